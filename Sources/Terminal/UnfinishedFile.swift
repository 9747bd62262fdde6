// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A temporary file that is removed if the program ends before the file is complete.
package final class UnfinishedFile: Sendable {
  private enum State {
    case waiting
    case created(URL)
    case removed
  }

  private let state = Mutex(State.waiting)

  package init() {}

  /// Creates the file under the lock, so that `remove` never misses it. Creates none after `remove`.
  package func create(_ create: () -> URL?) {
    state.withLock { state in
      guard case .waiting = state, let url = create() else { return }
      state = .created(url)
    }
  }

  /// Removes the file if it still has its temporary name.
  @Sendable package func remove() {
    state.withLock { state in
      if case .created(let url) = state { unlink(url.path) }
      state = .removed
    }
  }
}
