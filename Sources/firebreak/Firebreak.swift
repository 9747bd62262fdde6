// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Bench
import DiagnosisKeyFile
import Foundation
import Logging
import ServerOperations
import Settings
import Terminal

/// The command line: parses and runs a command and ends with one of four exit codes.
@main
struct Firebreak: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "firebreak",
    abstract: "An exposure notification system: phones, app, servers and the files between them.",
    discussion: """
      Exit codes: 0 yes or done, 1 the result is no, 2 bad input or usage, 3 the machine failed \
      (disk, network, database: try again).
      """,
    version: ProductVersion.line,
    subcommands: [
      DemoCommand.self, KeyfileCommand.self, MatchCommand.self, ScoreCommand.self,
      ConformanceCommand.self, WindowsCommand.self, TrialsCommand.self, SimulateCommand.self,
      BenchCommand.self,
      ServeCommand.self, VerificationServerCommand.self, KeyServerCommand.self,
      ConsoleCommand.self, RealmCommand.self, ClocksCommand.self, DatabaseCommand.self,
      BackupCommand.self, RestoreCommand.self,
      VerifyBackupCommand.self,
      EndOfServiceCommand.self, CanaryCommand.self, PhoneCommand.self,
      BeaconCommand.self, UpCommand.self, ManualCommand.self,
    ])

  static func main() async {
    openStandardStreams()
    // A file that reaches the size limit is then an error like a full disk, instead of a crash.
    signal(SIGXFSZ, SIG_IGN)
    // A write to a closed pipe is an error as well: `StandardOutput` reports it.
    signal(SIGPIPE, SIG_IGN)
    let arguments = CommandArguments(Array(CommandLine.arguments.dropFirst()))
    do {
      // Nearly every command has secrets in its memory: those of a phone, of the servers, or keys in files.
      try CoreDumps.disable()
      let style = TerminalStyle(
        descriptor: STDERR_FILENO, environment: ProcessInfo.processInfo.environment)
      try await TerminalStyle.$standardError.withValue(style) { try await run(arguments) }
    } catch {
      leave(with: error, of: arguments)
    }
  }

  private static func run(_ arguments: CommandArguments) async throws {
    var command = try parsed(arguments)
    if var command = command as? any AsyncParsableCommand {
      try await command.run()
    } else {
      try command.run()
    }
  }

  /// The command that the arguments name.
  ///
  /// - Throws: `CommandFailure` for wrong usage; `CleanExit` if help, the version or a completion script is wanted.
  static func parsed(_ arguments: CommandArguments) throws -> any ParsableCommand {
    let words = try arguments.parsable
    // The parser would make the script each time that it is asked about its error.
    if let shell = ArgumentReading.completionShell(in: words) {
      throw CleanExit.message(completionScript(for: shell))
    }
    let command: any ParsableCommand
    do {
      command = try parseAsRoot(words)
    } catch {
      setHelpWidth()
      let (usage, text) = (UsageError(words), message(for: error))
      guard exitCode(for: error) == .success else { throw usage.failure(text) }
      throw usage.unknownCommand ?? CleanExit.message(text)
    }
    // The parser shows the help of the last command that it knows.
    let name = type(of: command)._commandName
    if name == CommandDescription.helpName, let unknown = UsageError(words).unknownCommand {
      throw unknown
    }
    if !type(of: command).configuration.subcommands.isEmpty,
      let missing = UsageError(words).missingCommand
    {
      throw missing
    }
    return command
  }

  /// Opens `/dev/null` for each of stdin, stdout and stderr that is closed. Otherwise the next opened file, such as a
  /// database, would get its descriptor and receive the output.
  private static func openStandardStreams() {
    var file = open("/dev/null", O_RDWR)
    while (STDIN_FILENO...STDERR_FILENO).contains(file) { file = open("/dev/null", O_RDWR) }
    close(file)
  }

  /// Lets the parser wrap its help at a width for which it is made; below it, it stops the program.
  @discardableResult
  private static func setHelpWidth() -> HelpText {
    let help = HelpText(
      descriptor: STDOUT_FILENO, environment: ProcessInfo.processInfo.environment)
    setenv("COLUMNS", "\(help.width)", 1)
    return help
  }

  /// Help and version go to stdout; all other text is one line on stderr, or with `--json` or `--log-format json` one
  /// JSON object in a line.
  private static func leave(with error: any Error, of arguments: CommandArguments) -> Never {
    let help = setHelpWidth()
    let status = ExitStatus(error)
    let text = ExitStatus.message(for: error)
    if status == .done {
      do {
        try StandardOutput.write(help.wrapped(text))
      } catch {
        leave(with: error, of: arguments)
      }
    } else if !text.isEmpty {
      report(text, status, of: arguments)
    }
    Foundation.exit(status.rawValue)
  }

  private static func report(_ text: String, _ status: ExitStatus, of arguments: CommandArguments) {
    if arguments.wantsJSONLog {
      // A reader of the log has to find why the servers ended, also if --json is there for the addresses.
      Logger(label: "firebreak") { _ in LogFormat.json.handler(level: .critical) }
        .critical("\(text)", source: "firebreak")
    } else if arguments.wantsJSON {
      ErrorReport(text, status: status).writeToStandardError()
    } else {
      note(text)
    }
  }
}

extension ExitStatus {
  /// The exit status of a command that threw `error`.
  init(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure.status
    case let error as KeyFileError: self = error.exitStatus
    case let code as ExitCode: self = ExitStatus(rawValue: code.rawValue) ?? .badInput
    default: self = Self.status(ofForeign: error)
    }
  }

  /// The text that is printed for `error`.
  static func message(for error: any Error) -> String {
    switch error {
    case let failure as CommandFailure: failure.message
    case let error as KeyFileError: error.description
    case let error as CocoaError: error.localizedDescription
    default: Self.message(forForeign: error)
    }
  }

  /// Errors of the argument parser are bad usage or a request for help; all others come from the system.
  private static func status(ofForeign error: any Error) -> ExitStatus {
    switch Firebreak.exitCode(for: error) {
    case .success: .done
    case .validationFailure: .badInput
    default: .machineFailed
    }
  }

  /// Help keeps its lines; an error becomes one line.
  private static func message(forForeign error: any Error) -> String {
    guard status(ofForeign: error) != .done else { return Firebreak.fullMessage(for: error) }
    return Firebreak.message(for: error).split(separator: "\n").joined(separator: " ")
  }
}
