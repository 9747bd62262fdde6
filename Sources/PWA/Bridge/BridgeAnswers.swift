// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import PhoneProcess
import Secrets
import TextEncodings

// ProteGO Safe's messages, 1 to 105.
extension Bridge {
  /// The answer to a message; `nil` if it has none.
  func contractAnswer(to message: BridgeMessage) async throws -> JSONValue? {
    switch message.type {
    // Nothing to do: no push topics, no store for reviews, and the browser closes pages, zooms and writes texts.
    case MessageID.dailyTopicUnsubscribe, MessageID.appReview, MessageID.turnOff, MessageID.sendSMS:
      return nil
    // The first versions ask before they show the request for notices. They go on if the answer is empty, and ask
    // again every second after any other.
    case MessageID.notificationPermission: return nil
    // Sent by phones; a page that asks gets the same content.
    case MessageID.applicationLifecycle: return BridgePush.foreground.content
    case MessageID.backPressed, MessageID.route: return nil
    case MessageID.fontScale: return ["fontScale": 1]
    case MessageID.appVersion: return ["appVersion": .string(version)]
    case MessageID.language: return try await language(message)
    case MessageID.riskLevel: return await phone.state().riskJSON
    case MessageID.checkTotals: return await phone.checkTotals().json
    case MessageID.upload: return await contractUpload(message)
    case MessageID.clearData, MessageID.clearExposureRisk, MessageID.activities,
      MessageID.removeActivities:
      return try await data(message)
    case MessageID.notificationsPermission, MessageID.serviceStatus, MessageID.setServices:
      return try await services(message)
    case MessageID.allDistricts...MessageID.subscribedDistricts: return try await districts(message)
    case MessageID.labTestUpload: return ["result": 2]
    case MessageID.labTestSubscription: return [:]
    case MessageID.labTestPIN: return ["code": .null]
    case MessageID.statisticsNotification...MessageID.details: return try await statistics(message)
    default: throw BridgeFailure.unknownMessage(message.type)
    }
  }

  private func language(_ message: BridgeMessage) async throws -> JSONValue? {
    // A page may offer a language that the phone does not have; the phone keeps its own.
    if let code = message["language"]?.string, let language = Language(locale: code) {
      try await phone.choose(PhoneChoice(language: language))
      await pushState()
      await pushLanguage()
    }
    return await phone.state().languageJSON
  }

  private func contractUpload(_ message: BridgeMessage) async -> JSONValue {
    let result = await upload(message, diagnosis: .notStated) ?? .undecodable
    let answer: JSONValue = ["result": .integer(result.result)]
    pushes.send(BridgePush(MessageID.upload, answer))
    return answer
  }

  /// Uploads with the PIN that a message names; `nil` if it names none.
  private func upload(
    _ message: BridgeMessage, diagnosis: Diagnosis
  ) async -> PhoneUploadResult? {
    guard let pin = message["pin"]?.string else { return nil }
    return await phone.upload(
      PhoneUpload(
        pin: ZeroingBytes(copying: pin.utf8),
        sharesAbroad: message["isInteroperabilityEnabled"]?.asBool ?? false, diagnosis: diagnosis))
  }
}

// MARK: Services

extension Bridge {
  private func services(_ message: BridgeMessage) async throws -> JSONValue? {
    switch message.type {
    case MessageID.notificationsPermission:
      try await phone.choose(PhoneChoice(notifications: true))
    case MessageID.setServices: try await setServices(message)
    default: return await phone.services().json
    }
    await pushServices()
    return nil
  }

  /// If a message turns notices on, its other fields are ignored, as pages expect.
  ///
  /// The phone process cannot switch Bluetooth and location. Errors have no answer: message 51 states the result.
  private func setServices(_ message: BridgeMessage) async throws {
    guard !message.isMalformed, case .object? = message.content else {
      throw BridgeFailure.badRequest("Name the services to change.")
    }
    let notifications = message["enableNotification"]?.asBool
    // Message 51, which follows, states the result.
    if let notifications { try? await phone.choose(PhoneChoice(notifications: notifications)) }
    guard notifications != true, let isOn = message["enableExposureNotificationService"]?.asBool
    else { return }
    // Message 51 states this result, too.
    try? await phone.setExposureNotifications(isOn)
  }
}

// MARK: Stored data

extension Bridge {
  private func data(_ message: BridgeMessage) async throws -> JSONValue? {
    switch message.type {
    case MessageID.clearData:
      guard (message["clearAll"] ?? message["clearBtData"])?.asBool == true else {
        throw BridgeFailure.badRequest(#"Confirm the removal with {"clearAll":true}."#)
      }
      try await phone.remove(.everything)
      return nil
    case MessageID.clearExposureRisk:
      try await phone.remove(.exposures)
      return await phone.state().riskJSON
    case MessageID.removeActivities:
      guard !message.isMalformed, case .object? = message.content else {
        throw BridgeFailure.badRequest("Name the rows to remove.")
      }
      try await phone.removeActivities(PhoneActivityRows(message))
      return nil
    default: return await phone.activities().json
    }
  }
}

// MARK: Statistics

extension Bridge {
  private func districts(_ message: BridgeMessage) async throws -> JSONValue {
    switch message.type {
    case MessageID.allDistricts: return await statistics.districts(refreshing: false)
    case MessageID.fetchDistricts: return await statistics.districts(refreshing: true)
    case MessageID.districtAction:
      guard let action = message["type"]?.asInteger, [1, 2].contains(action),
        let district = message["districtId"]?.asInteger
      else { throw BridgeFailure.badRequest("Name a district, and type 1 or 2.") }
      guard let answer = await statistics.subscribe(action == 1, to: district) else {
        throw BridgeFailure.badRequest("There is no district \(district).")
      }
      return answer
    default: return await statistics.subscribedDistricts()
    }
  }

  private func statistics(_ message: BridgeMessage) async throws -> JSONValue? {
    switch message.type {
    case MessageID.setStatisticsNotification:
      guard let isWanted = message["isCovidStatsNotificationEnabled"]?.asBool else {
        throw BridgeFailure.badRequest("Name isCovidStatsNotificationEnabled.")
      }
      try await phone.choose(PhoneChoice(statistics: isWanted))
    case MessageID.dashboard: return await statistics.dashboard()
    case MessageID.details: return await statistics.details()
    default: break
    }
    return ["isCovidStatsNotificationEnabled": .bool(await phone.wantsStatistics())]
  }
}

// Our messages, from 1000: the parts of the web app for which the contract has no messages.
extension Bridge {
  func ownAnswer(to message: BridgeMessage) async throws -> JSONValue? {
    switch message.type {
    case MessageID.state: return JSONValue(answer: await phone.state())
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
      return try await phone.travel(to: message["to"]?.string)
    case MessageID.developer:
      let action = try message.word("action", of: DeveloperAction.allCases.map(\.rawValue))
      return [
        "text": .string(try await phone.develop(DeveloperAction(rawValue: action) ?? .showKeys))
      ]
    default:
      try await change(message)
      return JSONValue(answer: await phone.state())
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
    // Without a valid date there is no upload; the page gets the answer to an invalid message.
    guard let diagnosis = try? message.diagnosis,
      let result = await upload(message, diagnosis: diagnosis)
    else { return PhoneUploadResult.undecodable.json }
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
    guard let word = self[name]?.string, words.contains(word) else {
      throw .badRequest("\(name) must be one of: \(words.joined(separator: ", ")).")
    }
    return word
  }

  /// The chosen language; `nil` if the message names none.
  fileprivate var language: Language? {
    get throws(BridgeFailure) {
      guard let code = self["language"]?.string else { return nil }
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
      let kind = date["kind"]?.string
      if kind == "none" { return .notStated }
      guard let kind, ["test", "symptoms"].contains(kind) else {
        throw .badRequest("date.kind must be test, symptoms or none.")
      }
      guard let text = date["day"]?.string, let day = Self.day(text) else {
        throw .badRequest("date.day must be a day such as 2020-10-15.")
      }
      return kind == "test" ? .test(day: day) : .symptoms(day: day)
    }
  }

  /// 00:00 UTC of a day such as `2020-10-15`.
  private static func day(_ text: String) -> Date? {
    guard text.wholeMatch(of: /\d{4}-\d{2}-\d{2}/) != nil else { return nil }
    // Text of this form that is no day makes the parser throw.
    return try? Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day().parse(text)
  }
}
