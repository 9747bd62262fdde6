// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import World

/// Notifies the open pages that the lesson has changed, and tracks which browsers have an open page.
final class LessonFeed: Sendable {
  /// The reader of a stream.
  enum Reader: Hashable, Sendable {
    case teacher
    case phone(Int)

    var streamsMax: Int {
      self == .teacher ? ClassLimit.teacherStreamsMax : ClassLimit.streamsPerPhoneMax
    }
  }

  /// An event of a stream.
  enum Event: Hashable, Sendable {
    /// The page should load its content again.
    case changed
    /// Sent periodically, so that both ends notice a broken connection.
    case heartbeat
  }

  private struct Stream {
    let id: Int
    let reader: Reader
    let continuation: AsyncStream<Event>.Continuation
  }

  private struct State {
    var streams: [Stream] = []
    var nextID = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  /// A new stream. Its first event is a change, because the page may have been loaded before the last change.
  ///
  /// - Parameter ended: Called when the stream has ended.
  func subscribe(_ reader: Reader, ended: @escaping @Sendable () -> Void) -> AsyncStream<Event> {
    // For a slow page, one buffered event is enough.
    let (stream, continuation) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .bufferingNewest(1))
    continuation.yield(.changed)
    let (id, surplus) = state.withLock { state in
      if state.isFinished { continuation.finish() }
      state.nextID += 1
      state.streams.append(
        Stream(id: state.nextID, reader: reader, continuation: continuation))
      let own = state.streams.filter { $0.reader == reader }
      return (state.nextID, own.count > reader.streamsMax ? own.first : nil)
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.streams.removeAll { $0.id == id } }
      ended()
    }
    surplus?.continuation.finish()
    return stream
  }

  /// The phones whose browser has a page open.
  var connectedPhones: Set<Int> {
    state.withLock { state in
      Set(
        state.streams.compactMap { stream in
          if case .phone(let number) = stream.reader { number } else { nil }
        })
    }
  }

  /// The number of open streams.
  var count: Int { state.withLock { $0.streams.count } }

  /// Sends an event to the readers that want it.
  func send(_ event: Event, to isWanted: (Reader) -> Bool = { _ in true }) {
    let streams = state.withLock { $0.streams }
    for stream in streams where isWanted(stream.reader) {
      // A heartbeat must not replace a change that the page has not read yet.
      if case .dropped(.changed) = stream.continuation.yield(event), event != .changed {
        stream.continuation.yield(.changed)
      }
    }
  }

  /// Sends heartbeats until the task is cancelled; then all streams end.
  func beat(clock: any WallClock) async {
    while await clock.sleepUnlessCancelled(for: ClassLimit.heartbeatSeconds) { send(.heartbeat) }
    let open = state.withLock { state in
      state.isFinished = true
      return state.streams
    }
    for stream in open { stream.continuation.finish() }
  }
}
