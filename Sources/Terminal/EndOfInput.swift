import Dispatch
import Foundation

/// The end of stdin as the end of a process, for programs that another one starts.
///
/// The parent holds the other end of the pipe and writes nothing. The kernel closes it when the parent ends in any way,
/// also if it is killed. A signal at the end of the parent would come already at the end of the thread that started
/// this process.
package enum EndOfInput {
  /// The time in seconds in which the process has to stop by itself.
  package static let stopSeconds = 10

  /// Sends SIGTERM to this process when stdin ends, and ends it later if it is still there.
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
