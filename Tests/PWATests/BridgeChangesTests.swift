// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import PWA
import Synchronization
import TestSupport
import Testing
import TextEncodings

@testable import PhoneProcess

@Suite("Changes through the bridge")
struct BridgeChangesTests {
  @Test(
    "Messages 35 and 52 change services, and the new state is pushed",
    arguments: [
      (35, "null", [], true), (52, #"{"enableNotification":true}"#, [], true),
      (52, #"{"enableNotification":false}"#, [], false),
      (52, #"{"enableExposureNotificationService":true}"#, ["notifications true"], false),
      (
        52, #"{"enableExposureNotificationService":false,"enableBt":true}"#,
        ["notifications false"], false
      ),
      (52, #"{"enableNotification":true,"enableExposureNotificationService":true}"#, [], true),
    ] as [(Int, String, [String], Bool)])
  func services(_ type: Int, _ data: String, _ requests: [String], _ notices: Bool) async throws {
    let phone = ScriptedPhone { $0.state.notifications = false }
    try await RunningWebsite.with(phone) { (site) async throws in
      let events = try EventReader(site)
      defer { events.stop() }
      _ = try await events.push { $0 == .foreground }
      #expect(try await site.ask(type, JSONValue(text: data)).isEmpty)
      let push = try await events.push(51, after: 1)
      #expect(push?.content["servicesStatus"]?["isNotificationEnabled"] == .bool(notices))
      #expect(phone.requests == requests)
    }
  }

  @Test(
    "Message 51 has the service that the phone states, whatever the radio does",
    arguments: [(ServiceStatus.ExposureNotifications.on, 1), (.off, 2), (.restricted, 3)])
  func service(_ service: ServiceStatus.ExposureNotifications, _ status: Int) async throws {
    for radio in [PhoneState.Radio.on, .off, .none, .unused] {
      let phone = ScriptedPhone {
        $0.state.service = service
        $0.state.radio = radio
      }
      try await RunningWebsite.with(phone) { (site) async throws in
        let services = try await site.answer(51)["servicesStatus"]
        #expect(services?["exposureNotificationStatus"] == .integer(status))
      }
    }
  }

  @Test("Rows of message 90 are removed by their identifiers, texts or numbers")
  func removal() async throws {
    let phone = ScriptedPhone {
      $0.history.notices = ["1", "2"].map { PhoneNotice(id: $0, time: 1, title: "", body: "") }
      $0.history.checks = ["1", "2", "3"].map { id in
        PhoneHistory.Check(id: id, time: 1, keys: 1, matchedKeys: id == "3" ? 1 : 0)
      }
    }
    try await RunningWebsite.with(phone) { (site) async throws in
      _ = try await site.ask(91, ["notifications": .array(["1", "7"]), "riskChecks": .array([2])])
      #expect(phone.history.notices.map(\.id) == ["2"])
      #expect(phone.history.checks.map(\.id) == ["1", "3"])
      _ = try await site.ask(91, ["exposures": .array(["3"])])
      #expect(try await site.answer(90)["exposures"] == .array([]))
      #expect(phone.history.checks.map(\.id) == ["1"])
    }
  }

  @Test("Messages 37, 66 and 1008 remove the data that they name")
  func data() async throws {
    let phone = ScriptedPhone { $0.state.riskLevel = 3 }
    try await RunningWebsite.with(phone) { (site) async throws in
      #expect(try await site.ask(66) == #"{"riskLevel":0}"#)
      #expect(try await site.ask(37, ["clearAll": true]).isEmpty)
      #expect(try await site.answer(1_008, ["what": "history"])["version"] == "1.2.3")
      #expect(phone.requests == ["remove exposures", "remove everything", "remove history"])
    }
  }

  @Test("The state is pushed when it changes, and not when only time passes")
  func state() async throws {
    let phone = ScriptedPhone()
    try await RunningWebsite.with(phone) { (site) async throws in
      let events = try EventReader(site)
      defer { events.stop() }
      _ = try await events.push { $0 == .foreground }
      // A page that has sent none of our messages gets none.
      phone.edit { $0.state.riskLevel = 1 }
      _ = try await events.push(61)
      _ = try await site.answer(1_000)
      phone.edit { $0.state.now += 1 }
      phone.edit { $0.state.checking = true }
      _ = try await events.push(1_000)
      #expect(events.pushes.map(\.type) == [11, 51, 61, 1_000])
      #expect(events.pushes.last?.content["checking"] == true)
    }
  }

  @Test("Of two concurrent pushes of the state, the last one has the newest")
  func orderOfStates() async throws {
    let phone = ScriptedPhone()
    try await RunningWebsite.with(phone) { (site) async throws in
      let events = try EventReader(site)
      defer { events.stop() }
      _ = try await events.push { $0 == .foreground }
      _ = try await site.answer(1_000)
      let gate = Gate()
      phone.delayNextState { await gate.pass() }
      async let removal = site.answer(1_008, ["what": "history"])
      try await Patience.until { gate.isReached }
      phone.edit { $0.state.checking = true }
      // Time in which a push without order would overtake the first.
      _ = try await site.answer(1_000)
      gate.open()
      _ = try await removal
      _ = try await events.push(1_000, after: 1)
      let states = events.pushes.filter { $0.type == 1_000 }
      #expect(states.map { $0.content["checking"] } == [false, true])
    }
  }

  @Test("Of two concurrent pushes of the services, the last one has the newest")
  func orderOfServices() async throws {
    let phone = ScriptedPhone()
    try await RunningWebsite.with(phone) { (site) async throws in
      let events = try EventReader(site)
      defer { events.stop() }
      _ = try await events.push { $0 == .foreground }
      let gate = Gate()
      phone.delayNextState { await gate.pass() }
      async let answer = site.ask(35)
      try await Patience.until { gate.isReached }
      phone.edit { $0.state.radio = .off }
      // Time in which a push without order would overtake the first.
      _ = try await site.answer(1_000)
      gate.open()
      _ = try await answer
      _ = try await events.push(51, after: 2)
      // The first one greets the page.
      let services = events.pushes.filter { $0.type == 51 }.dropFirst()
      #expect(services.map { $0.content["servicesStatus"]?["isBtOn"] } == [true, false])
    }
  }

  @Test("Every field of the state is there, also without a value")
  func fields() async throws {
    let fields = [
      "onboarding", "enabled", "authorized", "bluetooth", "supported", "riskLevel", "exposures",
      "lastCheck", "lastFailure", "nextCheck", "checking", "paused", "configurationRefused",
      "storage", "damaged", "pendingUpload", "upload", "lastUpload", "language", "hidesDetails",
      "notifications", "statisticsNews", "developer", "region", "lastCheckKeys", "notices",
      "version", "now", "radio", "droppedBeacons", "advice", "positiveTest", "languageChosen",
      "followingDays", "clockWrong", "permissionUnreadable", "service",
    ]
    try await RunningWebsite.with { (site) async throws in
      guard case .object(let state) = try await site.answer(1_000) else {
        Issue.record("the state is not an object")
        return
      }
      #expect(Set(state.keys) == Set(fields))
      #expect(state["lastCheck"] == .null)
    }
  }

  @Test("Our own messages reach the phone and are answered")
  func own() async throws {
    let phone = ScriptedPhone()
    try await RunningWebsite.with(phone) { (site) async throws in
      #expect(try await site.answer(1_001)["version"] == 1)
      #expect(try await site.answer(1_002)["beacons"] == .array([]))
      #expect(try await site.answer(1_003)["status"] == [:])
      _ = try await site.answer(1_004, ["step": "decline"])
      #expect(
        try await site.answer(1_005) == ["ok": true, "riskLevel": 2, "failure": .null])
      #expect(
        try await site.answer(
          1_006, ["pin": "ABC", "date": ["kind": "test", "day": "1970-01-02"]])
          == ["result": 1, "reason": .null])
      #expect(
        phone.requests
          == ["onboard decline", "upload ABC false test(day: 1970-01-02)"])
      #expect(try await site.answer(1_007, ["action": "forget"])["result"] == 3)
      #expect(try await site.answer(1_009)["region"] == "PL")
      #expect(
        try await site.answer(1_010, ["language": "uk", "hidesDetails": true])["hidesDetails"]
          == true)
      #expect(try await site.answer(63)["language"] == "UK")
      #expect(try await site.answer(1_011, [:])["region"] == "PL")
      #expect(phone.requests.last == "preview  notStated")
      for action in ["share", "end"] {
        #expect(try await site.answer(1_013, ["action": .string(action)])["region"] == "PL")
      }
      #expect(phone.requests.suffix(2) == ["following days share", "following days end"])
      #expect(
        try await site.answer(1_013, ["action": "other"])["error"]?["code"] == "badRequest")
    }
  }
}

/// Holds a call of the phone until `open()`.
private final class Gate: Sendable {
  private let wasReached = Mutex(false)
  private let stream: AsyncStream<Void>
  private let end: AsyncStream<Void>.Continuation

  init() {
    (stream, end) = AsyncStream.makeStream(of: Void.self)
  }

  var isReached: Bool { wasReached.withLock(\.self) }

  func open() { end.finish() }

  func pass() async {
    wasReached.withLock { $0 = true }
    for await _ in stream {}
  }
}
