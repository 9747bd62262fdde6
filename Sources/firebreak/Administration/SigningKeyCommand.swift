// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import HealthAuthorityConsole
import ServerOperations
import Terminal
import World

/// `signing-key`: the keys that a server signs with.
struct SigningKeyCommand<Server: AdministeredServer>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "signing-key",
      abstract: "List, add, rotate and revoke the keys that the server signs with.",
      subcommands: [
        SigningKeyListCommand<Server>.self, SigningKeyAddCommand<Server>.self,
        SigningKeyRotateCommand<Server>.self, SigningKeyRevokeCommand<Server>.self,
        SigningKeyRelocateCommand<Server>.self,
      ],
      defaultSubcommand: SigningKeyListCommand<Server>.self)
  }
}

/// `signing-key list`
struct SigningKeyListCommand<Server: AdministeredServer>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "list", abstract: "List the keys: ids, validity and public keys."
    )
  }

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions

  func run() throws {
    let store = SigningKeyStore(try servers.setup(of: Server.name), of: Server.signing)
    guard let keys = try store.keys() else {
      throw CommandFailure.badInput(
        "The \(Server.commandName) of \(servers.data.printable) has no keys yet: start it first."
      )
    }
    let result = SigningKeyReport(keys)
    try report.write(result, result.text)
  }
}

/// `signing-key add`
struct SigningKeyAddCommand<Server: AdministeredServer>: AsyncParsableCommand, SigningKeyChange {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "add", abstract: "Add a new key, from now or later; the other keys stay valid.",
      discussion: SigningKeyTimes.lead(of: Server.signing))
  }

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions
  @OptionGroup var keyOptions: Server.KeyOptions

  @Option(
    help: ArgumentHelp("Start of validity: \(UTCTime.form).", valueName: "time"),
    transform: SigningKeyTimes.time)
  var from: Int64?

  func run() async throws {
    try write(try await store.add(from: from.map { Date(unixSecond: $0) }))
  }
}

/// `signing-key rotate`
struct SigningKeyRotateCommand<Server: AdministeredServer>: AsyncParsableCommand, SigningKeyChange {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "rotate", abstract: "Add a new key and end the older ones after an overlap.",
      discussion: """
        A running key server uses the new key at its next export, a verification server in seconds. \
        Without --overlap the older keys end \(Server.signing.overlapSeconds) seconds after the new one begins. \
        \(SigningKeyTimes.lead(of: Server.signing))
        """)
  }

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions
  @OptionGroup var keyOptions: Server.KeyOptions

  @Option(help: "Seconds for which the older keys stay valid.")
  var overlap: Int?

  @Option(
    help: ArgumentHelp("Start of the new key's validity: \(UTCTime.form).", valueName: "time"),
    transform: SigningKeyTimes.time)
  var from: Int64?

  func validate() throws {
    guard SigningKeyTimes.overlaps.contains(overlap ?? 0) else {
      throw ValidationError("--overlap takes 0 to \(SigningKeyTimes.overlaps.upperBound).")
    }
  }

  func run() async throws {
    try write(
      try await store.rotate(from: from.map { Date(unixSecond: $0) }, overlapSeconds: overlap))
  }
}

/// `signing-key revoke`
struct SigningKeyRevokeCommand<Server: AdministeredServer>: AsyncParsableCommand, SigningKeyChange {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "revoke",
      abstract: "Replace all keys at once, because one was stolen, and sign their files again.",
      discussion: """
        A new key begins now, and all others end. The key server signs the device configuration, and writes every file \
        of every export again under a new name; withdrawn files are removed. The running servers follow: within a \
        minute the key server refuses tokens of a revoked key. If a command fails, run it again with the same options.
        """)
  }

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions
  @OptionGroup var keyOptions: Server.KeyOptions

  func run() async throws {
    let (keys, files) = try await store.revoke()
    try write(keys, files: files)
  }
}

/// `signing-key relocate`
struct SigningKeyRelocateCommand<Server: AdministeredServer>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "relocate",
      abstract: "Change the place of a key on a token, whose public key stays.",
      discussion: """
        After its module, its token's label or its PIN file has got another name, or after a key was copied from \
        secrets.json to a token, which removes it from the file. Running servers follow at the next signature; \
        phones notice nothing.
        """)
  }

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions

  @Option(help: ArgumentHelp("The PKCS#11 URI of the key.", valueName: "URI"))
  var key: String

  func run() async throws {
    let setup = try servers.setup(of: Server.name)
    let result = SigningKeyReport(
      try await SigningKeyStore(setup, of: Server.signing, place: key).relocate())
    try report.write(result, result.text)
  }
}

/// A command that changes the keys. Its option groups are not one group of groups, because debug builds check nested
/// groups many times.
protocol SigningKeyChange {
  associatedtype Server: AdministeredServer
  var servers: ServerOptions { get }
  var report: ReportOptions { get }
  var keyOptions: Server.KeyOptions { get }
}

extension SigningKeyChange {
  /// The keys of the server in the folder that the options name.
  fileprivate var store: SigningKeyStore {
    get throws {
      SigningKeyStore(
        try servers.setup(of: Server.name), of: Server.signing, rootKey: keyOptions.rootKey,
        place: keyOptions.place)
    }
  }

  fileprivate func write(_ keys: [SigningKeyFacts], files: [String]? = nil) throws {
    let result = SigningKeyReport(keys, files: files)
    try report.write(result, result.text)
  }
}

/// Signing keys for output.
private struct SigningKeyReport: Encodable {
  private struct Key: Encodable {
    let keyID: String
    let keyVersion: String?
    let validFrom: Int64?
    let validThru: Int64?
    let publicKey: String
    /// The PKCS#11 URI of a key on a token.
    let tokenKey: String?
  }

  private let keys: [Key]
  /// The key files that were signed again; nil if the command signs none.
  private let files: [String]?

  init(_ keys: [SigningKeyFacts], files: [String]? = nil) {
    self.files = files
    self.keys = keys.map {
      Key(
        keyID: $0.id, keyVersion: $0.version, validFrom: $0.validFrom,
        validThru: $0.validThru, publicKey: $0.publicKeyPEM,
        tokenKey: $0.tokenKey)
    }
  }

  var text: String {
    let keys = keys.map { key in
      let name = [key.keyID, key.keyVersion].compactMap { $0?.printable }.joined(separator: " ")
      let validity = KeyValidity(from: key.validFrom, thru: key.validThru)
      let place = key.tokenKey.map { " on a token: \($0.printable)" } ?? ""
      return "\(name) \(validity.text)\(place)\n\(key.publicKey)"
    }
    return (keys + (files ?? []).map { "Wrote \($0)" }).joined(separator: "\n")
  }
}

/// The validity of keys.
enum SigningKeyTimes {
  /// Unix seconds, until 2286: names of key files have ten digits.
  static let seconds: ClosedRange<Int64> = 0...9_999_999_999
  /// Overlaps in seconds, up to ten years.
  static let overlaps = 0...315_360_000

  /// Parses a time.
  static func time(_ text: String) throws -> Int64 {
    guard let time = UTCTime(text)?.date.unixSecond, seconds.contains(time) else {
      throw ValidationError("expected \(UTCTime.form), before the year 2286")
    }
    return time
  }

  /// The sentence about the default start.
  static func lead(of server: SigningServer) -> String {
    let lead = server.leadSeconds
    return lead == 0
      ? "Without --from the key begins now."
      : "Without --from the key begins in \(lead) seconds: phones learn it before it signs."
  }
}
