// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The users at the other ends of open connections.
///
/// The kernel makes its whole table of connections for each reader, which takes milliseconds where the table is large.
/// A socket keeps the user that has made it, so the table is read once per connection and not for each request.
final class PeerUsers: Sendable {
  /// The connections of all servers of this process.
  static let ofProcess = PeerUsers()

  private let users = Mutex<[ObjectIdentifier: UInt32]>([:])

  /// The user of a connection: the one that was found before, or the result of `find`. An unknown user is looked for
  /// again.
  ///
  /// - Parameters:
  ///   - connection: The identity of the connection while it is open.
  ///   - find: Looks for the user.
  ///   - atClose: Calls its argument when the connection is closed, or now if it is, before another connection can have
  ///     the same identity.
  func user(
    of connection: ObjectIdentifier, find: () -> UInt32?,
    atClose: (_ forget: @escaping @Sendable () -> Void) -> Void
  ) -> UInt32? {
    if let known = users.withLock({ $0[connection] }) { return known }
    guard let user = find() else { return nil }
    users.withLock { $0[connection] = user }
    atClose { self.users.withLock { $0[connection] = nil } }
    return user
  }

  /// The number of connections in memory.
  var count: Int { users.withLock { $0.count } }
}
