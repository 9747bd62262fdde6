// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Cleans up when a command ends, or at a signal. After a signal the program exits with 128 plus the signal's number,
/// as is usual in shells.
///
/// A signal often makes the command fail too. The two cleanups are serialized, so that the command cannot end the
/// program during the cleanup of the signal.
package final class CleanUp {
  private let work: Work
  private let signals: SignalHandler

  private final class Work: Sendable {
    private let lock = Mutex(())
    private let cleanUp: @Sendable () -> Void

    init(_ cleanUp: @escaping @Sendable () -> Void) {
      self.cleanUp = cleanUp
    }

    func run(exitingWith status: Int32? = nil) {
      lock.withLock { _ in
        cleanUp()
        if let status { _exit(status) }
      }
    }
  }

  /// Handles signals until the object is released.
  package init(_ cleanUp: @escaping @Sendable () -> Void) {
    let work = Work(cleanUp)
    self.work = work
    signals = SignalHandler(and: [SIGHUP]) { work.run(exitingWith: 128 + $0) }
  }

  /// Cleans up because the command ends.
  package func run() { work.run() }
}
