// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import ServerOperations
import Terminal
import World

/// `key-server device-configuration`: the document that tells phones which keys to trust.
struct DeviceConfigurationCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device-configuration",
    abstract: "Show the device configuration, or sign it again with the root key.",
    subcommands: [ShowCommand.self, PublishCommand.self], defaultSubcommand: ShowCommand.self)

  /// `device-configuration show`
  struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract:
        "Show the document in force and the public root key, which phones are configured with.")

    @OptionGroup var servers: ServerOptions
    @OptionGroup var report: ReportOptions

    func run() throws {
      let files = try servers.setup(of: .keys).deviceConfiguration
      let document = DocumentReport(try files.existing(), root: try files.publicRootKey())
      try report.write(document, document.text)
    }
  }

  /// `device-configuration publish`
  struct PublishCommand: AsyncParsableCommand, DocumentChanger {
    static let configuration = CommandConfiguration(
      commandName: "publish",
      abstract: "Sign the document again, with the present keys, the next version and a new expiry."
    )

    @OptionGroup var servers: ServerOptions
    @OptionGroup var report: ReportOptions
    @OptionGroup var root: RootKeyOptions

    @Option(
      help: "Seconds for which phones accept this and later documents; 90 days at first.")
    var lifetime: Int64?

    func validate() throws {
      let lifetimes = DeviceConfigurationLimit.lifetimes
      guard lifetimes.contains(lifetime ?? DeviceConfigurationLimit.lifetime) else {
        throw ValidationError(
          "--lifetime takes \(lifetimes.lowerBound) to \(lifetimes.upperBound).")
      }
    }

    func run() async throws {
      try await publish(lifetimeSeconds: lifetime, replacesLost: true)
    }
  }
}

/// `key-server pause`
struct PauseCommand: AsyncParsableCommand, DocumentChanger {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Tell all phones to neither check nor upload; they lose nothing.",
    discussion: "A phone follows at its next check, and resumes at its first check after the pause."
  )

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions
  @OptionGroup var root: RootKeyOptions

  @Option(
    help: ArgumentHelp(
      "The end of the pause: \(UTCTime.form). Without it the pause lasts until `resume`.",
      valueName: "time"), transform: SigningKeyTimes.time)
  var until: Int64?

  func validate() throws {
    guard let until else { return }
    guard until > SystemClock().now.unixSecond else {
      throw ValidationError("--until takes a time in the future: \(UTCTime.form).")
    }
  }

  func run() async throws {
    try await publish(.pause(until: until))
  }
}

/// `key-server resume`
struct ResumeCommand: AsyncParsableCommand, DocumentChanger {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "End a pause.")

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions
  @OptionGroup var root: RootKeyOptions

  func run() async throws {
    try await publish(.resume)
  }
}

/// `key-server withdraw FILE|HASH`
struct WithdrawCommand: AsyncParsableCommand, DocumentChanger {
  static let configuration = CommandConfiguration(
    commandName: "withdraw",
    abstract: "Tell all phones to ignore key files and to undo the exposures found through them.",
    discussion: """
      One file or hash is enough: its copies in all exports are included, and the hashes that the files had before \
      they were written again. The files stay in the exports: a file that is written again has another hash, so \
      phones would read it.
      """)

  @Argument(help: "Key files, or their SHA-256 in hexadecimal.")
  var files: [String]

  @Flag(help: "Remove the files from the list; phones that have skipped them read them again.")
  var undo = false

  @OptionGroup var servers: ServerOptions
  @OptionGroup var report: ReportOptions
  @OptionGroup var root: RootKeyOptions

  func run() async throws {
    let hashes = try files.map(hash)
    let setup = try servers.setup(of: .keys)
    try write(
      try await setup.setFiles(hashes, isWithdrawn: !undo, rootKey: root.rootKey), of: setup)
  }

  private func hash(_ name: String) throws -> KeyFileHash {
    if let hash = KeyFileHash(hex: name) { return hash }
    let file = URL(fileURLWithPath: name)
    guard let hash = KeyFileHash(ofFile: file) else {
      throw CommandFailure.badInput(
        "\(name.printable) is neither a readable file nor 64 hexadecimal digits: correct it.")
    }
    do {
      _ = try UnverifiedKeyFile(at: file).inspect()
    } catch {
      throw CommandFailure.badInput(
        "\(name.printable) is not a key file: name a key file, or its SHA-256.")
    }
    return hash
  }
}

/// A command that changes the device configuration. Its option groups are not one group of groups, because debug builds
/// check nested groups many times.
protocol DocumentChanger {
  var servers: ServerOptions { get }
  var report: ReportOptions { get }
  var root: RootKeyOptions { get }
}

extension DocumentChanger {
  /// Signs and stores the next document with `change`, and prints it.
  fileprivate func publish(
    _ change: DocumentChange? = nil, lifetimeSeconds: Int64? = nil, replacesLost: Bool = false
  ) async throws {
    let setup = try servers.setup(of: .keys)
    try write(
      try await setup.publish(
        change, rootKey: root.rootKey, lifetimeSeconds: lifetimeSeconds,
        replacesLost: replacesLost),
      of: setup)
  }

  /// Prints the document of a key server.
  fileprivate func write(_ document: DeviceConfiguration, of setup: ServerSetup) throws {
    let result = DocumentReport(document, root: try setup.deviceConfiguration.publicRootKey())
    try report.write(result, result.text)
  }
}

/// A device configuration for output, with the public root key.
private struct DocumentReport: Encodable {
  private let document: DeviceConfiguration
  private let rootPublicKey: String

  init(_ document: DeviceConfiguration, root: RootKey) {
    self.document = document
    rootPublicKey = root.publicKeyPEM
  }

  private enum CodingKeys: CodingKey {
    case rootPublicKey
  }

  func encode(to encoder: any Encoder) throws {
    try document.encode(to: encoder)
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(rootPublicKey, forKey: .rootPublicKey)
  }

  var text: String {
    var lines = [
      "Version \(document.version), signed at \(UTCTime(unixSecond: document.issued).text), expires at"
        + " \(UTCTime(unixSecond: document.expires).text).",
      "Root key:", rootPublicKey,
    ]
    for key in document.keys {
      let validity = KeyValidity(from: key.validFrom, thru: key.validThru)
      lines.append("Key \(key.keyID.printable) \(key.keyVersion.printable) \(validity.text)")
    }
    if let pause = document.pause {
      lines.append(
        "Paused until \(pause.until.map { UTCTime(unixSecond: $0).text } ?? "`key-server resume`")."
      )
    }
    lines += document.withdrawn.map { "Withdrawn: \($0)" }
    return lines.joined(separator: "\n")
  }
}
