// SPDX-License-Identifier: Apache-2.0
import Foundation
import PWA
import PhoneProcess
import TestSupport
import Testing
import TextEncodings

@Suite("Streams of events")
struct EventStreamTests {
  @Test("A stream begins with messages 11 and 51, and has heartbeats")
  func heartbeat() async throws {
    let clock = ManualClock(Date(timeIntervalSince1970: 0))
    try await RunningWebsite.with(clock: clock) { (site) async throws in
      let events = try EventReader(site)
      defer { events.stop() }
      #expect(try await events.push { _ in true } == .foreground)
      #expect(try await events.push(51)?.content["servicesStatus"] != nil)
      #expect(
        events.text.contains("content-type: text/event-stream")
          || events.text.contains("Content-Type: text/event-stream"))
      try await Patience.until { clock.sleeperCount == 1 }
      clock.advance(by: BridgeLimit.heartbeatSeconds)
      try await Patience.until { events.text.contains("\n:\n\n") }
      #expect(events.text.contains("\n:\n\n"))
      #expect(!events.isOver)
    }
  }

  @Test("Several pages get every push; a closed one frees its stream")
  func several() async throws {
    let phone = ScriptedPhone()
    try await RunningWebsite.with(phone) { (site) async throws in
      let pages = [try EventReader(site), try EventReader(site)]
      for page in pages { _ = try await page.push { $0 == .foreground } }
      phone.edit { $0.state.riskLevel = 2 }
      for page in pages { #expect(try await page.push(61) != nil) }
      pages[0].stop()
      try await Patience.until { site.bridge.openStreams == 1 }
      #expect(site.bridge.openStreams == 1)
      pages[1].stop()
    }
  }

  @Test("Above the limit, the oldest stream gets the event `replaced` and ends")
  func limit() async throws {
    try await RunningWebsite.with { (site) async throws in
      var pages: [EventReader] = []
      for _ in 0...BridgeLimit.streamsMax {
        pages.append(try EventReader(site))
        _ = try await pages.last?.push { $0 == .foreground }
      }
      let oldest = pages[0]
      try await Patience.until { oldest.text.contains("event: replaced") }
      #expect(oldest.text.contains("event: replaced"))
      #expect(site.bridge.openStreams == BridgeLimit.streamsMax)
      for page in pages { page.stop() }
    }
  }

  @Test("The stream of a page that does not read ends when its buffer is full")
  func slow() async throws {
    let pushes = BridgePushes(clock: ManualClock(Date(timeIntervalSince1970: 0)))
    let slow = pushes.subscribe(greeting: [])
    for _ in 0...BridgeLimit.waitingEventsMax { pushes.send(.back) }
    #expect(pushes.count == 0)
    var read = 0
    for await _ in slow { read += 1 }
    #expect(read == BridgeLimit.waitingEventsMax)
  }

  @Test("Opening the address of a screen pushes it to the page that then loads, and to no other")
  func pending() async throws {
    try await RunningWebsite.with { (site) async throws in
      let old = try EventReader(site)
      defer { old.stop() }
      _ = try await old.push(51)
      let link = "/firebreak/open/notificationsHistory?uuid=7"
      let reply = try await site.send("GET", link, site.cookie)
      #expect(reply.status == 303 && reply.headers["location"] == "/")
      let events = try EventReader(site)
      defer { events.stop() }
      let push = try await events.push { $0.type == 69 }
      #expect(push?.content == ["name": "historyActivities", "params": ["uuid": "7"]])
      #expect(!old.pushes.contains { $0.type == 69 })
      #expect(try await site.send("GET", "/firebreak/open/admin", site.cookie).status == 404)
    }
  }

  @Test("All streams end with the server")
  func ends() async throws {
    let events = try await RunningWebsite.with { (site) async throws in
      let events = try EventReader(site)
      _ = try await events.push { $0 == .foreground }
      return events
    }
    try await Patience.until { events.isOver }
    #expect(events.isOver)
  }
}
