import Foundation
import Subprocess
import SystemPackage
import Terminal

/// A process of a town: this program with other arguments.
///
/// The process ends when its stdin is closed: when `up` ends in any way, also if `up` is killed.
struct UpChild: Sendable {
  /// The name for messages, and of the log.
  let name: String
  let arguments: [String]
  /// The file for stderr.
  let log: URL

  /// Runs the process until it ends. Cancelling the task shuts the process down gracefully.
  ///
  /// - Parameter ready: Called with the first line on stdout.
  /// - Throws: `CommandFailure` with the reason if the process ends by itself, or the error of `ready`.
  func run(ready: @escaping @Sendable (String) async throws -> Void) async throws {
    let file = try openLog()
    var options = PlatformOptions()
    // Ctrl-C in a terminal goes to `up` alone, which then stops its processes.
    options.processGroupID = 0
    options.teardownSequence = [
      .gracefulShutDown(allowedDurationToNextStep: .seconds(UpLimit.stopSeconds))
    ]
    let end = try await Subprocess.run(
      .path(Self.program), arguments: Arguments(arguments), platformOptions: options,
      input: .inputWriter, output: .sequence,
      error: .fileDescriptor(file, closeAfterSpawningProcess: true)
    ) { execution in
      var isReady = false
      for try await line in execution.standardOutput.strings() where !isReady {
        isReady = true
        try await ready(line)
      }
    }
    try Task.checkCancellation()
    throw failure(end.terminationStatus)
  }

  /// The running program.
  private static var program: FilePath {
    FilePath(URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path)
  }

  private func openLog() throws -> FileDescriptor {
    do {
      return try FileDescriptor.open(
        log.path, .writeOnly, options: [.create, .truncate, .append, .closeOnExec],
        permissions: .ownerReadWrite)
    } catch {
      throw CommandFailure(
        status: .machineFailed,
        message: "\(log.path.printable) cannot be written: check the disk and the folder.")
    }
  }

  /// The reason in one line: the last line of the log if the process failed. In other cases that line is an earlier
  /// note and not the reason.
  private func failure(_ end: TerminationStatus) -> CommandFailure {
    let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
    let last = text.split(separator: "\n").last.map {
      String($0).replacing("firebreak: ", with: "")
    }
    let place = "look into \(log.path)"
    let reason: String =
      switch end {
      case .signaled(let signal): "signal \(signal) ended it, \(place)"
      case .exited(0): place
      case .exited: last ?? place
      }
    return CommandFailure(status: .machineFailed, message: "\(name) stopped: \(reason)".printable)
  }
}

/// Limits of `up`.
enum UpLimit {
  /// The time in seconds that a process has to stop.
  static let stopSeconds = 10
}

/// The browser of the desktop.
enum UpBrowser {
  /// Opens an address; prints a note if that is not possible.
  static func open(_ address: String) {
    Task {
      let run = try? await Subprocess.run(
        .name("xdg-open"), arguments: [address], output: .discarded, error: .discarded)
      if run?.terminationStatus.isSuccess != true {
        note("The browser could not be opened: open the address yourself.")
      }
    }
  }
}
