// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The users of this machine whose browsers may use a server on loopback.
///
/// The owner is the user that runs the server. Another user is admitted by the address that the server has printed, and
/// only then: a cookie alone proves nothing, since browsers send cookies to all ports of a machine.
package final class WebUsers: Sendable {
  private let owner: UInt32
  /// `nil` is a user that the system does not report.
  private let admitted = Mutex<Set<UInt32?>>([])

  package init(owner: UInt32) {
    self.owner = owner
  }

  /// True for the user that runs the server.
  package func isOwner(_ user: UInt32?) -> Bool { user == owner }

  /// True if `user` may use the secret of this start.
  package func mayUseSecret(_ user: UInt32?) -> Bool {
    isOwner(user) || admitted.withLock { $0.contains(user) }
  }

  /// Admits a user that has opened the printed address.
  package func admit(_ user: UInt32?) {
    admitted.withLock { _ = $0.insert(user) }
  }
}
