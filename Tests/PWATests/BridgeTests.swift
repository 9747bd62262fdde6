// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TextEncodings

@testable import PWA
@testable import PhoneProcess

@Suite("The bridge")
struct BridgeTests {
  @Test(
    "D1: texts of any kind reach the page unchanged",
    arguments: [
      "it's", #"a "quote""#, #"back\slash"#, "two\nlines\r\n", "\u{2028}\u{2029}", "</script>",
      "<!--", "`${1}`", "\u{0}\u{1F}", "żółw 🐢",
    ])
  func escaping(_ text: String) async throws {
    let phone = ScriptedPhone {
      $0.history.notices = [PhoneNotice(id: "1", time: 1, title: text, body: text)]
    }
    try await RunningWebsite.with(phone) { (site) async throws in
      guard case .array(let rows) = try await site.answer(90)["notifications"] else {
        Issue.record("the response has no rows")
        return
      }
      #expect(rows.first?["title"] == .string(text) && rows.first?["content"] == .string(text))
      let events = try EventReader(site)
      defer { events.stop() }
      _ = try await events.push { $0 == .foreground }
      _ = try await site.answer(1_000)
      phone.edit { $0.state.version = text }
      let push = try await events.push { $0.type == 1_000 }
      #expect(push?.content["version"] == .string(text))
    }
  }

  @Test(
    "Messages without an answer, such as the question about notices, are answered with an empty text"
  )
  func empty() async throws {
    try await RunningWebsite.with { (site) async throws in
      for _ in 0..<2 {
        for type in [1, 2, 67, 69] { #expect(try await site.ask(type) == "", "\(type)") }
      }
    }
  }

  @Test("D1: the script never evaluates text as code or markup")
  func script() async throws {
    try await RunningWebsite.with { (site) async throws in
      let script = try await site.send("GET", "/firebreak/bridge.js", site.cookie).text
      #expect(script.contains("messageHandlers"))
      for danger in ["eval(", "Function(", "innerHTML", "document.write", "insertAdjacent"] {
        #expect(!script.contains(danger))
      }
    }
  }

  @Test("D2: messages that only set a value have an empty response", arguments: [1, 64, 68, 105])
  func noAnswer(_ type: Int) async throws {
    try await RunningWebsite.with { (site) async throws in
      #expect(try await site.ask(type, [:]).isEmpty)
    }
  }

  @Test(
    "D3, D4: an unknown message is answered, with or without a request",
    arguments: [0, 12, 999, 1_014, -1])
  func unknown(_ type: Int) async throws {
    try await RunningWebsite.with { (site) async throws in
      let error = try await site.answer(type)["error"]
      #expect(error?["code"] == "unknownMessage")
      #expect(error?["message"] == .string("There is no message \(type)."))
      let reply = try await site.post(#"{"type":\#(type)}"#)
      #expect(reply.status == 200)
    }
  }

  @Test(
    "D4: a phone that does not answer is reported in time",
    arguments: [
      (1_009, 30.0, #"{"to":"DE"}"#), (1_005, 300.0, "null"), (43, 300.0, #"{"pin":"A1B2C3"}"#),
      (1_006, 300.0, #"{"pin":"A1B2C3"}"#),
    ])
  func timeout(_ type: Int, _ seconds: TimeInterval, _ data: String) async throws {
    let clock = ManualClock(Date(timeIntervalSince1970: 0))
    try await RunningWebsite.with(ScriptedPhone { $0.hangs = true }, clock: clock) {
      (site) async throws in
      // The heartbeat sleeps as well.
      try await Patience.until { clock.sleeperCount == 1 }
      async let answer = site.answer(type, JSONValue(text: data))
      try await Patience.until { clock.sleeperCount == 2 }
      clock.advance(by: seconds - 1)
      clock.advance(by: 1)
      #expect(try await answer["error"]?["code"] == "timeout")
    }
  }

  @Test("The bridge's script waits as long as the phone: for servers with the same messages")
  func longMessages() async throws {
    let script = try await RunningWebsite.with { (site) async throws in
      try await site.send("GET", "/firebreak/bridge.js", site.cookie).text
    }
    let list = try #require(script.firstMatch(of: /LONG = new Set\(\[([0-9, ]+)\]\)/)).1
    let numbers = list.split(separator: ",").map { Int($0.trimmingCharacters(in: .whitespaces)) }
    #expect(numbers == MessageID.long.sorted())
    #expect(script.contains("? 300000 : 30000"))
    #expect(BridgeLimit.serverSeconds == 300 && BridgeLimit.answerSeconds == 30)
  }

  @Test("D5: a route of a phone is one of the web app")
  func routes() throws {
    #expect(PageRoute("notificationsHistory")?.name == "historyActivities")
    #expect(PageRoute("uploadHistoricalData", parameters: ["pin": "A"])?.parameters == ["pin": "A"])
    #expect(PageRoute("admin") == nil)
    #expect(PageRoute.names.count == 33)
  }

  @Test("D6: the risk level comes from the store, without a check")
  func stored() async throws {
    try await RunningWebsite.with(
      ScriptedPhone {
        $0.hangs = true; $0.state.riskLevel = 2
      }
    ) { (site) async throws in
      #expect(try await site.ask(61) == #"{"riskLevel":2}"#)
    }
  }

  @Test("D7: pages can confirm answers in both interfaces")
  func confirmations() async throws {
    try await RunningWebsite.with { (site) async throws in
      let script = try await site.send("GET", "/firebreak/bridge.js", site.cookie).text
      #expect(
        script.contains("bridgeDataReceived: handler(")
          && script.contains("bridgeDataReceived() {}"))
    }
  }

  @Test(
    "Pages write messages in several forms",
    arguments: [
      #"{"type":63,"data":"{\"language\":\"DE\"}","requestId":"r"}"#,
      #"{"type":"63","data":{"language":"de"},"requestId":null}"#,
      #"{"type":63.0,"data":"{\"language\":\"de\"}","timestamp":1}"#,
    ])
  func forms(_ body: String) async throws {
    try await RunningWebsite.with { (site) async throws in
      let reply = try await site.post(body)
      #expect(reply.text == #"{"body":"{\"language\":\"DE\"}"}"#)
    }
  }

  @Test(
    "A body that is not a message is refused",
    arguments: ["", "[]", "{}", #"{"type":"a"}"#, #"{"type":null}"#, "{", #"{"type":1.5}"#])
  func malformed(_ body: String) async throws {
    try await RunningWebsite.with { (site) async throws in
      #expect(try await site.post(body).status == 400)
    }
  }

  @Test(
    "Content that lacks something is answered with the reason",
    arguments: [
      (52, "[]"), (72, #"{"type":3,"districtId":1}"#), (101, "{}"), (37, "{}"), (91, "1"),
      (1_004, #"{"step":"skip"}"#), (1_008, "{}"), (1_009, #"{"to":"Poland"}"#),
      (1_010, #"{"language":"fr"}"#), (1_011, #"{"date":{"kind":"test","day":"2020-13-40"}}"#),
    ])
  func badRequest(_ type: Int, _ data: String) async throws {
    try await RunningWebsite.with { (site) async throws in
      let answer = try await site.answer(type, JSONValue(text: data))
      #expect(answer["error"]?["code"] == "badRequest")
    }
  }

  @Test("An upload without a PIN is canceled, as pages expect")
  func noPIN() async throws {
    try await RunningWebsite.with { (site) async throws in
      #expect(try await site.ask(43) == #"{"result":3}"#)
      #expect(try await site.answer(1_006)["result"] == 3)
    }
  }

  @Test("The preview of an upload is that of its PIN, and names the days whose keys are not sent")
  func preview() async throws {
    let phone = ScriptedPhone()
    try await RunningWebsite.with(phone) { (site) async throws in
      for data in [
        #"{"pin":"A1B2C3","date":{"kind":"test","day":"2020-10-15"}}"#, #"{"date":null}"#,
      ] {
        let answer = try await site.answer(1_011, JSONValue(text: data))
        #expect(
          answer == [
            "keys": [], "withheldDays": ["2020-10-13", "2020-10-14"], "receiver": "localhost:1",
            "region": "PL",
          ])
      }
    }
    #expect(phone.requests == ["preview A1B2C3 test(day: 2020-10-15)", "preview  notStated"])
  }

  @Test("Without --developer, the developer's messages are refused")
  func developer() async throws {
    try await RunningWebsite.with { (site) async throws in
      let error = try await site.answer(1_012, ["action": "showKeys"])["error"]
      #expect(error?["code"] == "notDeveloper")
    }
  }
}
