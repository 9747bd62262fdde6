// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import HealthAuthorityConsole
import ServerOperations

/// The server of an administration command that both servers have.
protocol AdministeredServer {
  /// The options of the commands that change signing keys.
  associatedtype KeyOptions: SigningKeyOptions
  static var signing: SigningServer { get }
}

extension AdministeredServer {
  static var name: ServerName { signing.name }
  static var commandName: String { signing.commandName }
}

/// The options of the commands that change the signing keys of a server.
protocol SigningKeyOptions: ParsableArguments {
  /// The file of the private root key; nil for the one in the server's folder, or if the server has none.
  var rootKey: String? { get }
  /// The place of a new key, as `SigningKeyStore` takes it.
  var place: String? { get }
}

/// The key server, whose keys sign key files.
enum AdministeredKeyServer: AdministeredServer {
  struct KeyOptions: SigningKeyOptions {
    @Option(help: RootKeyOptions.help)
    var rootKey: String?

    @Option(name: NewKeyPlace.name, help: NewKeyPlace.help, transform: NewKeyPlace.checked)
    var place: String?
  }

  static let signing = SigningServer.keys
}

/// The verification server, whose keys sign tokens and certificates.
enum AdministeredVerificationServer: AdministeredServer {
  struct KeyOptions: SigningKeyOptions {
    var rootKey: String? { nil }

    @Option(name: NewKeyPlace.name, help: NewKeyPlace.help, transform: NewKeyPlace.checked)
    var place: String?
  }

  static let signing = SigningServer.verification
}

/// The option that names the place of a new signing key.
private enum NewKeyPlace {
  static let name = NameSpecification.customLong("key")
  static let help = ArgumentHelp(
    "The new key: the PKCS#11 URI of a key on a token, or `file` to generate one, which is the default unless the"
      + " newest key is on a token.", valueName: "URI")

  static func checked(_ place: String) throws -> String {
    guard SigningKeyStore.isPlace(place) else {
      throw ValidationError("expected pkcs11:... or \(SigningKeyStore.newKeyInFile)")
    }
    return place
  }
}

/// The option that names the private root key.
struct RootKeyOptions: ParsableArguments {
  static let help = ArgumentHelp(
    "The private root key, or the PKCS#11 URI of one on a token; by default root-key.pem in the key server's folder.",
    valueName: "FILE")

  @Option(help: Self.help)
  var rootKey: String?
}
