import ArgumentParser
import Foundation

/// The command line: parses, runs, and turns every ending into one of four exit codes.
@main
struct Firebreak: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "firebreak",
    abstract: "An exposure notification system: phones, app, servers and the files between them.",
    discussion: """
      Exit codes: 0 yes or done, 1 the answer is no, 2 bad input or usage, 3 the machine failed \
      (disk, network, database: try again).
      """,
    version: "0.1.0",
    subcommands: [
      DemoCommand.self, KeyfileCommand.self, MatchCommand.self, ScoreCommand.self,
      ConformanceCommand.self, TrialsCommand.self, BenchCommand.self, ServeCommand.self,
      VerificationServerCommand.self, KeyServerCommand.self,
    ])

  static func main() async {
    holdStandardStreams()
    // A file that reaches the size allowed then is a disk that is full, with a sentence, and not the end of us.
    signal(SIGXFSZ, SIG_IGN)
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      leave(with: error)
    }
  }

  /// Opens what was closed of stdin, stdout and stderr: else the next file opened, maybe a database,
  /// would get the number, and with it what is meant for the terminal.
  private static func holdStandardStreams() {
    var file = open("/dev/null", O_RDWR)
    while (STDIN_FILENO...STDERR_FILENO).contains(file) { file = open("/dev/null", O_RDWR) }
    close(file)
  }

  /// Help and version go to stdout; everything else is one line on stderr.
  private static func leave(with error: any Error) -> Never {
    let status = ExitStatus(error)
    let text = ExitStatus.sentence(for: error)
    if status == .done {
      print(text)
    } else if !text.isEmpty {
      FileHandle.standardError.write(Data("firebreak: \(text)\n".utf8))
    }
    Foundation.exit(status.rawValue)
  }
}
