// SPDX-License-Identifier: Apache-2.0
import CProcessControl
import Dispatch
import Foundation

extension FileManager {
  /// Removes a folder in which this program or another one may still create files, with retries.
  package func removeFolderInUse(_ folder: URL) {
    for _ in 0..<Self.removalsMax where fileExists(atPath: folder.path) {
      // It fails if a file was created meanwhile; the next round removes that one too.
      try? removeItem(at: folder)
    }
  }

  private static let removalsMax = 100
}

/// Protects the memory of the process, which contains unencrypted secrets.
package enum CoreDumps {
  /// Makes the kernel write no core dump of this process, neither to a file nor to a program, and refuse other
  /// processes of the same user that want to read its memory.
  ///
  /// Only root can then read the memory of the process. SECURITY.md says which secrets it holds.
  ///
  /// - Throws: `CommandFailure` if the system does not allow it.
  package static func disable() throws(CommandFailure) {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0,
      firebreak_make_undumpable() == 0
    else {
      throw CommandFailure.machineFailed(
        "Core dumps cannot be disabled: check the limits of the system.")
    }
  }
}

/// Ends a child process when its stdin is closed.
///
/// The parent holds the other end of the pipe and writes nothing. The kernel closes it when the parent ends in any way,
/// also if it is killed. A parent-death signal would already be sent at the end of the thread that started this
/// process.
package enum EndOfInput {
  /// The time that the process has for a graceful shutdown, in seconds.
  package static let stopSeconds = 10

  /// Sends SIGTERM to this process when stdin ends, and exits after `stopSeconds` if it still runs.
  package static func stopAtEndOfInput() {
    onEnd {
      kill(getpid(), SIGTERM)
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(stopSeconds)) {
        _exit(ExitStatus.machineFailed.rawValue)
      }
    }
  }

  /// Runs `ended` once, when stdin ends or can no longer be read.
  ///
  /// A queue of its own waits for it: a `readabilityHandler` of Foundation that removes itself crashes now and then.
  package static func onEnd(_ ended: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "end of input").async {
      while !isAtEnd() {}
      ended()
    }
  }

  /// Waits for input and discards a byte of it. Another process may have made stdin non-blocking.
  private static func isAtEnd() -> Bool {
    var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard poll(&input, 1, -1) > 0 else { return false }
    var byte: UInt8 = 0
    let count = read(STDIN_FILENO, &byte, 1)
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
  }
}
