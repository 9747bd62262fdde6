// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import HealthAuthorityConsole
import ServerOperations

/// The server of an administration command that both servers have.
protocol AdministeredServer {
  /// The options of the commands that change signing keys.
  associatedtype KeyOptions: SigningKeyOptions
  static var commandName: String { get }
  static var signing: SigningServer { get }
}

extension AdministeredServer {
  static var name: ServerName { signing.name }
}

/// The options of the commands that change the signing keys of a server.
protocol SigningKeyOptions: ParsableArguments {
  /// The file of the private root key; nil for the one in the server's folder, or if the server has none.
  var rootKey: String? { get }
}

/// The key server, whose keys sign key files.
enum AdministeredKeyServer: AdministeredServer {
  typealias KeyOptions = RootKeyOptions

  static let commandName = "key-server"
  static let signing = SigningServer.keys
}

/// The verification server, whose keys sign tokens and certificates.
enum AdministeredVerificationServer: AdministeredServer {
  /// Token keys need no further options.
  struct KeyOptions: SigningKeyOptions {
    var rootKey: String? { nil }
  }

  static let commandName = "verification-server"
  static let signing = SigningServer.verification
}

/// The option that names the private root key.
struct RootKeyOptions: SigningKeyOptions {
  @Option(
    help: ArgumentHelp(
      "The private root key; by default root-key.pem in the key server's folder.", valueName: "FILE"
    ))
  var rootKey: String?
}
