// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import PhoneProcess
import Secrets
import TextEncodings

/// The phone, as the bridge uses it: the operations of its owner, as commands perform them, and changes of its state.
///
/// Every operation follows an action of the owner on a page, which is the consent that some operations need.
package protocol BridgePhone: Sendable {
  /// Performs an operation.
  func perform(_ request: PhoneRequest) async -> PhoneReply
  /// Makes a sequence that yields an element after changes of the state.
  func makeChanges() -> AsyncStream<Void>
}

extension Phone: BridgePhone {}

extension Bridge {
  /// Performs an operation and returns its reply, also one that says no.
  func reply(
    to operation: PhoneOperation, pin: ZeroingBytes? = nil
  ) async throws(BridgeFailure) -> PhoneReply {
    let request = pin.map { PhoneRequest(operation, pin: $0) } ?? PhoneRequest(operation)
    let reply = await phone.perform(request)
    guard reply.json == nil, reply.status != .done else { return reply }
    throw reply.status == .badInput ? .badRequest(reply.text) : .phone(reply.text)
  }

  /// Performs an operation and returns its result as JSON.
  @discardableResult
  func ask(
    _ operation: PhoneOperation, pin: ZeroingBytes? = nil
  ) async throws(BridgeFailure) -> JSONValue {
    try await reply(to: operation, pin: pin).json.flatMap { JSONValue(text: $0) } ?? [:]
  }

  /// The state, as message 1000 has it.
  func state() async throws(BridgeFailure) -> JSONValue {
    var fields = try await ask(.status).fields
    fields["notices"] = fields.removeValue(forKey: "shownNotices")
    return .object(fields)
  }
}

// The parts of the state and of the history in the form of ProteGO Safe's messages.
extension JSONValue {
  /// Messages 61 and 66, which have no value for an unknown level.
  var riskLevelMessage: JSONValue { ["riskLevel": .integer(self["riskLevel"]?.integer ?? 0)] }

  /// Message 63: `{"language":"PL"}`.
  var languageMessage: JSONValue {
    ["language": .string((self["language"]?.string ?? "").uppercased())]
  }

  /// Messages 51 and 52.
  var servicesMessage: JSONValue {
    let isBluetoothOff =
      self["radio"] == "off"
      || self["radio"] == "none" && self["enabled"] == true && self["bluetooth"] == false
    let statuses = ["on": 1, "off": 2, "restricted": 3]
    return [
      "servicesStatus": [
        "exposureNotificationStatus": .integer(statuses[self["service"]?.string ?? ""] ?? 2),
        "isBtOn": .bool(!isBluetoothOff),
        "isNotificationEnabled": self["notifications"] ?? false,
        // No location service is needed here; pages for Android wait until it is on.
        "isLocationOn": true,
      ]
    ]
  }

  /// Message 90: the notices and checks of a history, newest first. Message 91 removes rows by their identifiers.
  var activitiesMessage: JSONValue {
    let checks = elements(of: "checks")
    let count = ["id": "id", "timestamp": "time", "exposures": "matchedKeys"]
    return [
      "notifications": .array(
        elements(of: "notices").map {
          $0.renamed(["id": "id", "timestamp": "time", "title": "title", "content": "body"])
        }),
      "riskChecks": .array(checks.map { $0.renamed(count.merging(["keys": "keys"]) { $1 }) }),
      "exposures": .array(
        checks.filter { $0["matchedKeys"]?.integer ?? 0 > 0 }.map {
          $0.renamed(count).with($0.riskLevelMessage.fields)
        }),
    ]
  }

  /// Message 103: the numbers of a history; empty before the first check.
  var checkTotalsMessage: JSONValue {
    guard self["lastCheck"]?.integer != nil else { return [:] }
    return [
      "riskCheck": renamed([
        "lastRiskCheckTimestamp": "lastCheck", "todayKeysCount": "keysToday",
        "last7daysKeysCount": "keysInSevenDays", "totalKeysCount": "keysTotal",
      ])
    ]
  }

  private func elements(of name: String) -> [JSONValue] {
    (self[name]?.elements ?? []).reversed()
  }

  /// The fields with other names: the old ones by the new ones.
  private func renamed(_ names: [String: String]) -> JSONValue {
    .object(names.mapValues { self[$0] ?? .null })
  }
}
