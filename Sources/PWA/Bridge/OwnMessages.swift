import Foundation
import Secrets

// Our messages, from 1000: the parts of the web app for which the contract has no words.
extension Bridge {
  func ownAnswer(to message: BridgeMessage) async throws -> JSONValue? {
    switch message.type {
    case MessageID.state: return await phone.state().json
    case MessageID.exposures: return await phone.exposures()
    case MessageID.traffic: return await phone.traffic()
    case MessageID.exportMyData: return try await phone.ownerData()
    case MessageID.checkNow: return try await checkNow()
    case MessageID.guidedUpload: return await guidedUpload(message)
    case MessageID.unfinishedUpload:
      let action = try message.word("action", of: ["continue", "forget"])
      return try await phone.resolveUpload(continuing: action == "continue").json
    case MessageID.uploadPreview: return try await phone.uploadPreview(try message.date)
    case MessageID.travel:
      return try await phone.travel(to: message["to"]?.asString)
    case MessageID.developer:
      let action = try message.word("action", of: Self.developerActions)
      return ["text": .string(try await phone.develop(action))]
    default:
      try await change(message)
      return await phone.state().json
    }
  }

  private static let developerActions = [
    "detectNow", "simulateExposure", "resetExposures", "resetOnboarding", "showKeys",
    "showConfiguration", "resetCursor", "simulateFailure",
  ]

  /// The messages whose answer is the new state.
  private func change(_ message: BridgeMessage) async throws {
    switch message.type {
    case MessageID.onboarding:
      let step = try message.word("step", of: PhoneOnboarding.allCases.map(\.rawValue))
      try await phone.onboard(PhoneOnboarding(rawValue: step) ?? .finish)
    case MessageID.remove:
      let what = try message.word("what", of: PhoneRemoval.allCases.map(\.rawValue))
      try await phone.remove(PhoneRemoval(rawValue: what) ?? .notices)
    case MessageID.preferences:
      try await phone.choose(
        PhoneChoice(
          language: message["language"]?.asString, hidesDetails: message["hidesDetails"]?.asBool,
          notifications: message["notifications"]?.asBool))
    default: throw BridgeFailure.unknownMessage(message.type)
    }
    // The other open pages of the owner.
    await pushState()
    if message["notifications"] != nil { await pushServices() }
  }

  private func checkNow() async throws -> JSONValue {
    let result = try await phone.check()
    return [
      "ok": .bool(result.failure == nil), "riskLevel": JSONValue(result.riskLevel),
      "failure": JSONValue(optional: result.failure),
    ]
  }

  private func guidedUpload(_ message: BridgeMessage) async -> JSONValue {
    guard let pin = message["pin"]?.asString, let date = try? message.date else {
      return PhoneUploadResult.undecodable.json
    }
    return await phone.upload(
      PhoneUpload(
        pin: ZeroingBytes(copying: pin.utf8),
        sharesAbroad: message["isInteroperabilityEnabled"]?.asBool ?? false, date: date)
    ).json
  }
}

extension PhoneUploadResult {
  fileprivate var json: JSONValue {
    ["result": .integer(result), "reason": JSONValue(optional: reason)]
  }
}

extension BridgeMessage {
  /// The field `name`, which is one of `words`.
  fileprivate func word(_ name: String, of words: [String]) throws(BridgeFailure) -> String {
    guard let word = self[name]?.asString, words.contains(word) else {
      throw .badRequest("\(name) must be one of: \(words.joined(separator: ", ")).")
    }
    return word
  }

  /// The date of an upload; `none` if the page states none.
  fileprivate var date: PhoneUpload.Day {
    get throws(BridgeFailure) {
      guard let date = self["date"], date != .null else { return PhoneUpload.Day(.none) }
      guard let kind = date["kind"]?.asString.flatMap(PhoneUpload.Day.Kind.init(rawValue:)) else {
        throw .badRequest("date.kind must be test, symptoms or none.")
      }
      guard kind != .none else { return PhoneUpload.Day(.none) }
      guard let day = date["day"]?.asString, day.wholeMatch(of: /\d{4}-\d{2}-\d{2}/) != nil else {
        throw .badRequest("date.day must be a day such as 2020-10-15.")
      }
      return PhoneUpload.Day(kind, day)
    }
  }
}
