// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TextEncodings
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
    while await clock.sleepUnlessCancelled(for: BridgeLimit.heartbeatSeconds) { send(.heartbeat) }
    let open = streams.withLock { streams in
      streams.isFinished = true
      return streams.open
    }
    for stream in open { stream.continuation.finish() }
  }
}

/// A message that the phone sends by itself: the number and the JSON for `onBridgeData`.
package struct BridgePush: Hashable, Sendable {
  /// The number of the message.
  package let type: Int
  /// The content.
  package let content: JSONValue

  package init(_ type: Int, _ content: JSONValue) {
    self.type = type
    self.content = content
  }

  /// The page has been opened, or is visible again.
  package static let foreground = BridgePush(MessageID.applicationLifecycle, ["appState": 1])
  /// The back button of the phone.
  package static let back = BridgePush(MessageID.backPressed, [:])

  /// `{"type":11,"data":"{\"appState\":1}"}`, in one line.
  package var line: String {
    let push: JSONValue = ["type": .integer(type), "data": .string(content.text)]
    return push.text
  }
}

/// A screen of ProteGO Safe's web app with its parameters: message 69.
package struct PageRoute: Hashable, Sendable {
  /// The screens of the web app.
  package static let names: Set<String> = [
    "addTranslation", "currentRestrictions", "daily", "dailyData", "diagnosis", "home",
    "howItWorks", "iAmSick", "importantInformation", "InfoVaccinations", "labTest",
    "labTestResult", "menu", "historyActivities", "pinReceiver", "privacyPolicy",
    "privacyPolicyDetails", "recommendations", "regulations", "reportBug", "riskTest",
    "riskTestData", "settings", "settingsBluetooth", "settingsLanguages",
    "settingsNotifications", "statistics", "summaryRiskTest", "uploadHistoricalData",
    "userData", "userDataChange", "userDataSettings", "warningInEurope",
  ]

  /// The names of screens in older versions of ProteGO Safe's programs, by which some links still call them.
  private static let aliases = ["notificationsHistory": "historyActivities"]

  /// The name of the screen, which the web app knows.
  package let name: String
  /// The parameters, such as `pin`.
  package let parameters: [String: String]

  /// The screen `name`, also by an alias; `nil` if the web app has none.
  package init?(_ name: some StringProtocol, parameters: [String: String] = [:]) {
    let name = Self.aliases[String(name)] ?? String(name)
    guard Self.names.contains(name) else { return nil }
    self.name = name
    self.parameters = parameters
  }

  var push: BridgePush {
    BridgePush(
      MessageID.route,
      ["name": .string(name), "params": .object(parameters.mapValues(JSONValue.string))])
  }
}
