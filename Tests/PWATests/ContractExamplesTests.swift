// SPDX-License-Identifier: Apache-2.0
import Foundation
import PWA
import TestSupport
import Testing
import TextEncodings

@testable import PhoneProcess

/// The examples of ProteGO Safe's web app.
enum Example {
  static func file(_ name: String) -> JSONValue? {
    let content = try? Data(contentsOf: SharedData.url("bridge/" + name))
    return content.flatMap { JSONValue(json: $0) }
  }
}

@Suite(
  "Every message of the contract has the fields and types of its example",
  .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absence)))
struct ContractExamplesTests {
  /// A phone with a row of every kind.
  private static var phone: ScriptedPhone {
    ScriptedPhone { script in
      script.state.riskLevel = 3
      script.history = PhoneHistory(
        checks: [PhoneHistory.Check(id: "1", time: 3, keys: 9, matchedKeys: 1, riskLevel: 3)],
        notices: [PhoneNotice(id: "4", time: 1, title: "T", body: "C")],
        lastCheck: Date(timeIntervalSince1970: 5), keysToday: 1, keysInSevenDays: 2, keysTotal: 3)
    }
  }

  /// `value` has every field of `example` with a value of the same type.
  private func expect(_ value: JSONValue?, like example: JSONValue, at path: String) {
    switch (value, example) {
    case (.object, .object(let fields)):
      for (name, field) in fields { expect(value?[name], like: field, at: path + "." + name) }
    case (.array(let values), .array(let examples)):
      if let first = examples.first { expect(values.first, like: first, at: path + "[0]") }
    case (.number, .number) where value?.integer != nil, (.string, .string), (.bool, .bool): break
    default: Issue.record("\(path) is \(String(describing: value))")
    }
  }

  @Test(
    "The response to a request has the fields of the example",
    arguments: [
      (51, nil, "51-native-service-statuses.bridgeDataResponse.json"),
      (61, nil, "61-en-level.bridgeDataResponse.json"), (66, nil, "66.bridgeDataResponse.json"),
      (70, nil, "70.bridgeDataResponse.json"), (71, nil, "70.bridgeDataResponse.json"),
      (72, #"{"type":1,"districtId":218}"#, "73-get-subscribed-districts.bridgeDataResponse.json"),
      (73, nil, "73-get-subscribed-districts.bridgeDataResponse.json"),
      (80, #"{"pin":"A1B2C3"}"#, "80-upload-pin-test.bridgeDataResponse.json"),
      (90, nil, "90-list-activities.bridgeDataResponse.json"),
      (100, nil, "100-get-covid-notification.bridgeDataResponse.json"),
      (
        101, #"{"isCovidStatsNotificationEnabled":true}"#,
        "101-set-covid-notification.bridgeDataResponse.json"
      ),
      (102, nil, "102-fetch-covid-stats.bridgeDataResponse.json"),
      (103, nil, "103-fetch-exposureaggregate-statistics.bridgeDataResponse.json"),
      (104, nil, "104-fetch-details-stats.onBridgeData.json"),
    ] as [(Int, String?, String)])
  func answers(_ type: Int, _ data: String?, _ name: String) async throws {
    let example = try #require(Example.file(name))
    try await RunningWebsite.with(
      Self.phone, statistics: ScriptedStatistics(file: Example.file)
    ) { (site) async throws in
      let answer = try await site.answer(type, data.flatMap { JSONValue(text: $0) })
      expect(answer, like: example, at: "\(type)")
    }
  }

  @Test("An upload is answered, and pushed as in the example")
  func upload() async throws {
    let example = try #require(Example.file("43-upload-pin.onBridgeData.json"))
    let phone = Self.phone
    try await RunningWebsite.with(phone) { (site) async throws in
      let events = try EventReader(site)
      defer { events.stop() }
      _ = try await events.push { $0 == .foreground }
      let answer = try await site.answer(
        43, ["pin": "A1B2C3", "isInteroperabilityEnabled": true])
      expect(answer, like: example, at: "43")
      let push = try await events.push { $0.type == 43 }
      #expect(push?.content == answer)
      #expect(phone.requests == ["upload A1B2C3 true notStated"])
    }
  }

  @Test("The pushes 11, 51, 61, 67 and 69 are those of the examples")
  func pushes() async throws {
    let phone = Self.phone
    try await RunningWebsite.with(phone) { (site) async throws in
      let events = try EventReader(site)
      defer { events.stop() }
      #expect(
        try await events.push { _ in true }?.content
          == Example.file("11-native-state.onBridgeData.json"))
      phone.edit {
        $0.state.radio = .off
        $0.state.riskLevel = 1
      }
      for (type, name) in [
        (51, "51-native-service-statuses.onBridgeData.json"), (61, "61-en-level.onBridgeData.json"),
      ] {
        let example = try #require(Example.file(name))
        let skipped = type == 51 ? 1 : 0
        expect(try await events.push(type, after: skipped)?.content, like: example, at: name)
      }
      site.bridge.goBack()
      #expect(
        try await events.push { $0.type == 67 }?.content
          == Example.file("67-back-button.onBridgeData.json"))
      site.bridge.open(try #require(PageRoute("historyActivities", parameters: ["key": "value"])))
      let next = try EventReader(site)
      defer { next.stop() }
      #expect(
        try await next.push { $0.type == 69 }?.content
          == Example.file("69-screen-change.onBridgeData.json"))
    }
  }

  @Test("A subscription to a lab test, which this phone does not have, is empty")
  func labTest() async throws {
    try await RunningWebsite.with { (site) async throws in
      #expect(try await site.ask(81) == "{}")
      #expect(try await site.ask(82) == #"{"code":null}"#)
    }
  }
}
