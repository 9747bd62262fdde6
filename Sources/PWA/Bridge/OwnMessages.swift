import ExposureApp
import Foundation
import PhoneProcess
import Secrets

// Our messages, from 1000: the parts of the web app for which the contract has no messages.
extension Bridge {
  func ownAnswer(to message: BridgeMessage) async throws -> JSONValue? {
    switch message.type {
    case MessageID.state: return JSONValue(encoding: await phone.state())
    case MessageID.exposures: return await phone.exposures()
    case MessageID.traffic: return try await phone.traffic()
    case MessageID.exportMyData: return try await phone.ownerData()
    case MessageID.checkNow: return try await checkNow()
    case MessageID.guidedUpload: return await guidedUpload(message)
    case MessageID.unfinishedUpload:
      let action = try message.word("action", of: ["continue", "forget", "seen"])
      if action == "seen" {
        await phone.noteUploadShown()
        await pushState()
        return [:]
      }
      let result = try await phone.resolveUpload(continuing: action == "continue").json
      await pushState()
      return result
    case MessageID.uploadPreview: return try await phone.uploadPreview(try message.diagnosis)
    case MessageID.travel:
      return try await phone.travel(to: message["to"]?.asString)
    case MessageID.developer:
      let action = try message.word("action", of: DeveloperAction.allCases.map(\.rawValue))
      return [
        "text": .string(try await phone.develop(DeveloperAction(rawValue: action) ?? .showKeys))
      ]
    default:
      try await change(message)
      return JSONValue(encoding: await phone.state())
    }
  }

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
          language: try message.language, hidesDetails: message["hidesDetails"]?.asBool,
          notifications: message["notifications"]?.asBool))
    default: throw BridgeFailure.unknownMessage(message.type)
    }
    // For the other open pages of the owner.
    await pushState()
    if message["notifications"] != nil { await pushServices() }
    if message["language"] != nil { await pushLanguage() }
  }

  private func checkNow() async throws -> JSONValue {
    let result = try await phone.check()
    return [
      "ok": .bool(result.failure == nil), "riskLevel": JSONValue(result.riskLevel),
      "failure": JSONValue(optional: result.failure),
    ]
  }

  private func guidedUpload(_ message: BridgeMessage) async -> JSONValue {
    guard let pin = message["pin"]?.asString, let diagnosis = try? message.diagnosis else {
      return PhoneUploadResult.undecodable.json
    }
    let result = await phone.upload(
      PhoneUpload(
        pin: ZeroingBytes(copying: pin.utf8),
        sharesAbroad: message["isInteroperabilityEnabled"]?.asBool ?? false, diagnosis: diagnosis))
    // A page that was loaded again in the meantime gets the result with the state.
    await pushState()
    return result.json
  }
}

extension PhoneUploadResult {
  fileprivate var json: JSONValue {
    let answer: [String: JSONValue] = [
      "result": .integer(result), "reason": JSONValue(optional: reason),
    ]
    return .object(until.map { answer.merging(["until": .integer($0)]) { $1 } } ?? answer)
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

  /// The chosen language; `nil` if the message names none.
  fileprivate var language: Language? {
    get throws(BridgeFailure) {
      guard let code = self["language"]?.asString else { return nil }
      guard let language = Language(rawValue: code) else {
        throw .badRequest(
          "language must be one of: \(Language.allCases.map(\.rawValue).joined(separator: ", ")).")
      }
      return language
    }
  }

  /// The date of an upload, if the page states one.
  fileprivate var diagnosis: Diagnosis {
    get throws(BridgeFailure) {
      guard let date = self["date"], date != .null else { return .notStated }
      let kind = date["kind"]?.asString
      if kind == "none" { return .notStated }
      guard let kind, ["test", "symptoms"].contains(kind) else {
        throw .badRequest("date.kind must be test, symptoms or none.")
      }
      guard let text = date["day"]?.asString, let day = Self.day(text) else {
        throw .badRequest("date.day must be a day such as 2020-10-15.")
      }
      return kind == "test" ? .test(day: day) : .symptoms(day: day)
    }
  }

  /// 00:00 UTC of a day such as `2020-10-15`.
  private static func day(_ text: String) -> Date? {
    guard text.wholeMatch(of: /\d{4}-\d{2}-\d{2}/) != nil else { return nil }
    return try? Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day().parse(text)
  }
}
