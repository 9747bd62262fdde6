// SPDX-License-Identifier: Apache-2.0
import Foundation
import PhoneProcess
import Secrets
import Synchronization
import TextEncodings
import World

/// Answers the messages of pages, and pushes changes to them.
package final class Bridge: Sendable {
  let phone: any BridgePhone
  let statistics: any StatisticsSource
  let pushes: BridgePushes
  private let clock: any WallClock
  /// The version of the program, for message 62.
  let version: String
  /// True if a page has sent one of our messages. Other web apps do not know them, so they are not pushed either.
  private let isOurs = Mutex(false)
  private let lastPush = Mutex<Task<Void, Never>?>(nil)

  package init(
    to phone: any BridgePhone, statistics: any StatisticsSource, version: String,
    clock: any WallClock
  ) {
    self.phone = phone
    self.statistics = statistics
    self.version = version
    self.clock = clock
    pushes = BridgePushes(clock: clock)
  }

  /// Follows the phone from now on.
  ///
  /// - Returns: Work that pushes the changes until its task is cancelled.
  package func follow() async -> @Sendable () async -> Void {
    let changes = phone.makeChanges()
    // A phone whose state cannot be read has none to compare with.
    let start = try? await state()
    return {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await self.pushes.beat() }
        group.addTask {
          var last = start
          for await _ in changes { last = await self.pushChanges(since: last) }
        }
        await group.next()
        group.cancelAll()
      }
    }
  }

  /// The answer to a message: the JSON for `bridgeDataResponse`, or nothing.
  ///
  /// After a timeout the operation continues; its result is in the state.
  package func answer(to message: BridgeMessage) async -> String {
    if message.type >= MessageID.state { isOurs.withLock { $0 = true } }
    let seconds = BridgeLimit.seconds(of: message.type)
    let answer = await firstResult(within: seconds, clock) { await self.result(of: message) }
    switch answer {
    case .success(let value): return value?.text ?? ""
    case .failure(let failure): return failure.answer.text
    case nil: return BridgeFailure.timeout.answer.text
    }
  }

  private func result(of message: BridgeMessage) async -> Result<JSONValue?, BridgeFailure> {
    do {
      return .success(
        try await message.type < MessageID.state
          ? contractAnswer(to: message) : ownAnswer(to: message))
    } catch let failure as BridgeFailure {
      return .failure(failure)
    } catch {
      return .failure(.phone("The phone could not do this: try again."))
    }
  }
}

// MARK: Changes

extension Bridge {
  /// Pushes the differences to `last`; returns the new state.
  private func pushChanges(since last: JSONValue?) async -> JSONValue? {
    // The next change is compared with the last state that could be read.
    guard let state = try? await state() else { return last }
    if state.servicesMessage != last?.servicesMessage { await pushServices() }
    if state.riskLevelMessage != last?.riskLevelMessage {
      pushes.send(BridgePush(MessageID.riskLevel, state.riskLevelMessage))
    }
    if state.withoutTime != last?.withoutTime { await pushState() }
    return state
  }

  /// Pushes the services to all pages, also if they did not change: the push is the answer to messages 35 and 52.
  func pushServices() async { await push(MessageID.serviceStatus, \.servicesMessage) }

  /// Pushes the state to all pages.
  func pushState() async {
    guard isOurs.withLock(\.self) else { return }
    await push(MessageID.state, \.self)
  }

  /// Pushes the language to all pages.
  func pushLanguage() async { await push(MessageID.language, \.languageMessage) }

  /// Pushes a part of the current state.
  private func push(
    _ type: Int, _ part: @escaping @Sendable (JSONValue) -> JSONValue
  ) async {
    await inOrder {
      // Pages ask again for a state that cannot be read, and are told the reason.
      guard let state = try? await self.state() else { return }
      self.pushes.send(BridgePush(type, part(state)))
    }
  }

  /// Runs `push` after the earlier ones, so that the last push has the newest values of the phone.
  private func inOrder(_ push: @escaping @Sendable () async -> Void) async {
    let task = lastPush.withLock { last in
      let previous = last
      let next = Task {
        await previous?.value
        await push()
      }
      last = next
      return next
    }
    await task.value
  }

  /// A stream for a new page. It begins with the messages that a phone sends when an app comes to the foreground.
  func connect() async -> AsyncStream<BridgePushes.Event> {
    // Pages ask again for a state that cannot be read, and are told the reason.
    let services = (try? await state()).map {
      BridgePush(MessageID.serviceStatus, $0.servicesMessage)
    }
    return pushes.subscribe(greeting: [.foreground] + [services].compactMap(\.self))
  }

  /// Opens a screen of the page that connects next: message 69.
  package func open(_ route: PageRoute) { pushes.keep(route.push) }

  /// Pushes message 67 to pages for Android: the back button was pressed.
  package func goBack() { pushes.send(.back) }

  /// The number of pages with a stream of events.
  package var openStreams: Int { pushes.count }
}

extension JSONValue {
  /// The state without the time, by which states are compared.
  fileprivate var withoutTime: JSONValue {
    var fields = fields
    fields["now"] = nil
    return .object(fields)
  }
}

/// Limits of the bridge.
package enum BridgeLimit {
  /// The time for an answer, in seconds.
  package static let answerSeconds: TimeInterval = 30
  /// The time for an answer that waits for servers, in seconds.
  package static let serverSeconds: TimeInterval = 300
  /// The interval of comments in a stream of events, in seconds.
  package static let heartbeatSeconds: TimeInterval = 15
  /// Streams of events. A browser opens six connections to one host; some must stay free for requests.
  package static let streamsMax = 4
  /// The maximum number of events in the buffer of a page. A slower page is disconnected, and connects again.
  package static let waitingEventsMax = 100
  /// The size of the body of a message, in bytes.
  package static let messageBytesMax = 64 << 10

  static func seconds(of type: Int) -> TimeInterval {
    MessageID.long.contains(type) ? serverSeconds : answerSeconds
  }
}

/// Runs `work`; `nil` if it takes longer than `seconds`. The work then continues, and its result is discarded.
private func firstResult<Value: Sendable>(
  within seconds: TimeInterval, _ clock: any WallClock,
  _ work: @escaping @Sendable () async -> Value
) async -> Value? {
  let (results, continuation) = AsyncStream.makeStream(of: Value?.self)
  Task {
    continuation.yield(await work())
    continuation.finish()
  }
  let timer = Task {
    guard await clock.sleepUnlessCancelled(for: seconds) else { return }
    continuation.yield(nil)
  }
  defer { timer.cancel() }
  for await result in results { return result }
  return nil
}
