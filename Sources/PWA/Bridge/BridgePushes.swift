import Foundation
import Synchronization
import World

/// Passes pushes to the open pages, each of which has a stream of events.
package final class BridgePushes: Sendable {
  /// An event in a stream.
  package enum Event: Hashable, Sendable {
    case push(BridgePush)
    /// Sent periodically, so that both ends notice a broken connection.
    case heartbeat
    /// The last event: a newer page takes the place of this one, which connects again when it becomes visible.
    case replaced
  }

  private struct Streams {
    var open: [(id: Int, continuation: AsyncStream<Event>.Continuation)] = []
    var nextID = 0
    /// The screen that the next page opens.
    var pendingRoute: BridgePush?
    var isFinished = false
  }

  private let streams = Mutex(Streams())
  private let clock: any WallClock

  package init(clock: any WallClock) {
    self.clock = clock
  }

  /// A new stream that begins with `greeting`. Beyond `BridgeLimit.streamsMax`, the oldest stream ends.
  package func subscribe(greeting: [BridgePush]) -> AsyncStream<Event> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .bufferingOldest(BridgeLimit.waitingEventsMax))
    let (id, replaced) = streams.withLock { streams in
      if streams.isFinished { continuation.finish() }
      for push in greeting { continuation.yield(.push(push)) }
      if let route = streams.pendingRoute { continuation.yield(.push(route)) }
      streams.pendingRoute = nil
      streams.nextID += 1
      streams.open.append((streams.nextID, continuation))
      let isFull = streams.open.count > BridgeLimit.streamsMax
      return (streams.nextID, isFull ? streams.open.removeFirst().continuation : nil)
    }
    replaced?.yield(.replaced)
    replaced?.finish()
    continuation.onTermination = { [weak self] _ in
      self?.streams.withLock { $0.open.removeAll { $0.id == id } }
    }
    return stream
  }

  /// The number of open streams.
  package var count: Int { streams.withLock { $0.open.count } }

  /// Sends `push` to all pages.
  package func send(_ push: BridgePush) { send(.push(push)) }

  /// Keeps a route for the page that connects next, which the response to the link loads.
  package func keep(_ route: BridgePush) { streams.withLock { $0.pendingRoute = route } }

  private func send(_ event: Event) {
    for stream in streams.withLock({ $0.open }) {
      // A page that misses an event must load the whole state again, which it does when it connects.
      if case .dropped = stream.continuation.yield(event) { stream.continuation.finish() }
    }
  }

  /// Sends heartbeats until the task is cancelled; then all streams end.
  func beat() async {
    while (try? await clock.sleep(for: BridgeLimit.heartbeatSeconds)) != nil { send(.heartbeat) }
    let open = streams.withLock { streams in
      streams.isFinished = true
      return streams.open
    }
    for stream in open { stream.continuation.finish() }
  }
}
