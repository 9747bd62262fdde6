// SPDX-License-Identifier: Apache-2.0
import HummingbirdCore
import NIOCore
import Synchronization

/// The accepted connections of a server and of the same server with TLS, which have one limit together.
///
/// At the limit both stop accepting, each after the connection for which it waits already. The library lets a listener
/// go on when one of its own connections ends; the other listener, which may have none, goes on from here.
final class AcceptedConnections: AvailableConnectionsDelegate {
  private struct State {
    var count = 0
    /// True if a listener has stopped accepting since the last time that all were told to go on.
    var isAwaited = false
    var listeners: [ObjectIdentifier: any Channel] = [:]
  }

  private let countMax: Int
  private let state = Mutex(State())

  /// Allows `countMax` connections at a time.
  init(countMax: Int) {
    self.countMax = countMax
  }

  /// Adds a listener until its channel is closed.
  func begin(_ listener: any Channel) {
    let id = ObjectIdentifier(listener)
    state.withLock { $0.listeners[id] = listener }
    listener.closeFuture.whenComplete { _ in self.state.withLock { $0.listeners[id] = nil } }
    // It may have stopped accepting, and a connection of the other listener may have ended, before it was added.
    listener.read()
  }

  func connectionOpened() {
    state.withLock { $0.count += 1 }
  }

  func connectionClosed() {
    let awaiting = state.withLock { state -> [any Channel] in
      state.count -= 1
      guard state.isAwaited, state.count < countMax else { return [] }
      state.isAwaited = false
      return Array(state.listeners.values)
    }
    // The library's handler that calls this has exclusive access to the delegate, and a read asks it again.
    for listener in awaiting { listener.eventLoop.execute { listener.read() } }
  }

  func isAcceptingNewConnections() -> Bool {
    state.withLock { state in
      let isAccepting = state.count < countMax
      if !isAccepting { state.isAwaited = true }
      return isAccepting
    }
  }

  /// The number of accepted connections.
  var count: Int { state.withLock { $0.count } }
}
