import Dispatch
import Foundation

/// Ends a child process when its stdin is closed.
///
/// The parent holds the other end of the pipe and writes nothing. The kernel closes it when the parent ends in any way,
/// also if it is killed. A parent-death signal would already be sent at the end of the thread that started this
/// process.
package enum EndOfInput {
  /// The time that the process has for a graceful shutdown, in seconds.
  package static let stopSeconds = 10

  /// Sends SIGTERM to this process when stdin ends, and exits after `stopSeconds` if it still runs.
  package static func stopsThisProcess() {
    FileHandle.standardInput.readabilityHandler = { input in
      guard input.availableData.isEmpty else { return }
      input.readabilityHandler = nil
      kill(getpid(), SIGTERM)
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(stopSeconds)) {
        _exit(ExitStatus.machineFailed.rawValue)
      }
    }
  }
}
