// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import HealthAuthorityConsole
import ServerOperations
import Synchronization
import Terminal
import World

/// `firebreak console`: administration of the console, also while it runs.
struct ConsoleCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "console", abstract: "Administer the console: the first account, the audit log.",
    subcommands: [ConsoleAccountCommand.self, ConsoleCodeCommand.self, ConsoleAuditCommand.self])
}

/// `console one-time-code`
struct ConsoleCodeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "one-time-code", abstract: "Show the one-time code of a secret, for a rehearsal.",
    discussion: """
      It reads the secret from standard input, so that it is not in the list of processes. An official keeps the \
      secret in an app on a phone instead.
      """)

  func run() throws {
    let secret = readLine() ?? ""
    guard let code = ConsoleAdministration.oneTimeCode(secret: secret, at: SystemClock().now) else {
      throw CommandFailure.badInput(
        "The secret must be 32 letters and digits of Base32: copy all of it from the output of"
          + " `console account add` or `up`.")
    }
    try StandardOutput.write(code)
  }
}

/// `console account`
struct ConsoleAccountCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "account", abstract: "Add, recover, disable and enable accounts of officials.",
    subcommands: [
      AddCommand.self, RecoverCommand.self, DisableCommand.self, EnableCommand.self,
    ])

  /// The own option of a command that changes an account.
  struct AccountOptions: ParsableArguments {
    @Option(help: "The name of the account.")
    var name: String

    /// Disables or enables the account.
    func setDisabled(
      _ isDisabled: Bool, on servers: ServerOptions, _ report: ReportOptions
    ) async throws {
      try await servers.setup(of: .console).withConsole {
        try await $0.setAccount(name: name, isDisabled: isDisabled)
      }
      try report.write(
        StateReport(name: name, disabled: isDisabled),
        "The account \(name) is \(isDisabled ? "disabled" : "enabled").")
    }
  }

  private struct StateReport: Encodable {
    let name: String
    let disabled: Bool
  }

  /// `console account recover`
  struct RecoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "recover",
      abstract: "Set new credentials of an account and show them once.",
      discussion: "The passkeys, the sessions and the link of the account end.")

    @OptionGroup var account: AccountOptions
    @OptionGroup var servers: ServerOptions
    @OptionGroup var report: ReportOptions

    func run() async throws {
      let credentials = CredentialsReport(
        try await servers.setup(of: .console).withConsole {
          try await $0.recoverAccount(name: account.name)
        })
      try report.write(credentials, credentials.text)
    }
  }

  /// `console account disable`
  struct DisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "disable",
      abstract: "Disable an account: its sessions, its link and its open requests end.")

    @OptionGroup var account: AccountOptions
    @OptionGroup var servers: ServerOptions
    @OptionGroup var report: ReportOptions

    func run() async throws { try await account.setDisabled(true, on: servers, report) }
  }

  /// `console account enable`
  struct EnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "enable", abstract: "Enable a disabled account.")

    @OptionGroup var account: AccountOptions
    @OptionGroup var servers: ServerOptions
    @OptionGroup var report: ReportOptions

    func run() async throws { try await account.setDisabled(false, on: servers, report) }
  }

  /// `console account add`
  struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add an account and show its credentials once.",
      discussion: """
        The sign-in needs the name, the password and a code of an app for one-time codes (TOTP), which takes the \
        secret. An administrator adds further accounts in the console, with a link for their holders. The command \
        works before the first start of the servers, too: it creates their folder.
        """)

    @Option(help: "The name that is typed at the sign-in.")
    var name: String

    @Option(help: ArgumentHelp("The role.", valueName: "issuer|epidemiologist|administrator"))
    var role: Role

    @OptionGroup var servers: ServerOptions
    @OptionGroup var report: ReportOptions

    func run() async throws {
      let folder = ServerFolder(at: servers.data)
      servers.noteRealms(of: folder)
      let setup = try servers.setup(
        servers.ofRealm(in: folder),
        database: DatabaseOptions.addressOfEnvironment)
      let credentials = CredentialsReport(try await setup.addAccount(name: name, role: role))
      try report.write(credentials, credentials.text)
    }
  }

  /// Credentials as they are printed once.
  private struct CredentialsReport: Encodable {
    let name: String
    let role: String
    let password: String
    let codeSecret: String
    let codeAddress: String

    init(_ credentials: ConsoleAdministration.Credentials) {
      name = credentials.name
      role = credentials.role.rawValue
      password = credentials.password
      codeSecret = credentials.codeSecret
      codeAddress = credentials.codeAddress
    }

    var text: String {
      """
      Name: \(name)
      Role: \(role)
      Password: \(password)
      Secret for the app of one-time codes: \(codeSecret)
      The same as an address: \(codeAddress)
      Store them now: they are not shown again.
      """
    }
  }
}

extension Role: ExpressibleByArgument {}

/// `console audit`
struct ConsoleAuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit", abstract: "Verify and export the audit log.",
    subcommands: [VerifyCommand.self, ExportCommand.self])

  /// `console audit verify`
  struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "verify",
      abstract: "Verify the chain of the audit log; exit code 1 if it was changed.",
      discussion: """
        The hashes have a key that is derived from the console's secret; the check of an exported \
        log needs it too. The hash of the newest entry is shown, and the console logs it daily. \
        Keep it elsewhere: with --head the command also notices if entries at the end were removed. \
        --copy is for the files of `auditFile` and of a syslog daemon, the oldest first: entries may be \
        repeated, and the oldest files may be missing.
        """)

    private struct Report: Encodable {
      let intact: Bool
      let entries: Int64
      let head: String
      let fault: String?
    }

    @Argument(help: "An exported log, or copies of the log; by default the log of the console.")
    var files: [String] = []

    @Flag(help: "The files are copies that the console has forwarded.")
    var copy = false

    @Option(help: "The hash of an entry that must be in the log.")
    var head: String?

    @OptionGroup var servers: ServerOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
      guard copy ? !files.isEmpty : files.count <= 1 else {
        throw ValidationError(
          copy ? "Name the copies, the oldest first." : "Several files are copies: add --copy.")
      }
    }

    func run() async throws {
      let hashes = HashSearch(head)
      guard !copy else { return try verifyCopies(hashes) }
      let chain = try await chain(hashes)
      let fault =
        chain.fault
        ?? (hashes.isFound ? nil : "No entry has the hash of --head: entries were removed.")
      if report.json {
        try printJSON(
          Report(intact: fault == nil, entries: chain.count, head: chain.head, fault: fault))
      } else if fault == nil {
        try StandardOutput.write("All \(chain.count) entries are intact. Head: \(chain.head)")
      }
      if let fault { throw CommandFailure(status: .no, message: fault) }
    }

    private struct CopyReport: Encodable {
      let intact: Bool
      let first: Int64
      let entries: Int64
      let repeated: Int
      let head: String
      let fault: String?
    }

    private func verifyCopies(_ hashes: HashSearch) throws {
      let texts = try files.map { try InputFile($0, what: "copy of the audit log").text }
      let setup = try servers.setup(of: .console)
      var copy = AuditCopy(try setup.reportingErrors { try setup.consoleAudit().auditChain() })
      for text in texts { copy.append(file: text) { hashes.see($0) } }
      let fault =
        copy.fault
        ?? (hashes.isFound ? nil : "No entry has the hash of --head: entries were removed.")
      if report.json {
        try printJSON(
          CopyReport(
            intact: fault == nil, first: copy.first, entries: copy.count, repeated: copy.repeated,
            head: copy.head, fault: fault))
      } else if fault == nil {
        try StandardOutput.write(
          "The \(copy.count) entries from entry \(copy.first) on are intact. Head: \(copy.head)")
      }
      if let fault { throw CommandFailure(status: .no, message: fault) }
    }

    private func chain(_ hashes: HashSearch) async throws -> AuditChain {
      let text = try files.first.map { try InputFile($0, what: "audit log").text }
      let setup = try servers.setup(of: .console)
      if let text {
        // The hashes have a key, which is derived from the console's secret.
        var chain = try setup.reportingErrors { try setup.consoleAudit().auditChain() }
        for line in text.split(separator: "\n") {
          chain.append(lines: String(line))
          hashes.see(chain.head)
        }
        return chain
      }
      return try await setup.reportingErrors {
        try await setup.consoleAudit().audit { _, hash in hashes.see(hash) }
      }
    }
  }

  /// `console audit export`
  struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export", abstract: "Write the audit log to standard output, one JSON a line.")

    @OptionGroup var options: ServerOptions

    func run() async throws {
      let setup = try options.setup(of: .console)
      let chain = try await setup.reportingErrors {
        try await setup.consoleAudit().audit { line, _ in try StandardOutput.write(line) }
      }
      if let fault = chain.fault { throw CommandFailure(status: .no, message: fault) }
    }
  }
}

/// Records if a log contains a given hash.
private final class HashSearch: Sendable {
  private let hash: String?
  private let found: Mutex<Bool>

  init(_ hash: String?) {
    self.hash = hash?.lowercased()
    found = Mutex(hash == nil)
  }

  /// True if the log contains the hash, or no hash was given.
  var isFound: Bool { found.withLock { $0 } }

  func see(_ other: String) {
    if other == hash { found.withLock { $0 = true } }
  }
}
