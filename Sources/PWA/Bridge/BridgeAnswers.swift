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
    case MessageID.riskLevel: return try await state().riskLevelMessage
    case MessageID.checkTotals: return try await ask(.history).checkTotalsMessage
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
      try await ask(.choose(PhoneChoice(language: language)))
      await pushState()
      await pushLanguage()
    }
    return try await state().languageMessage
  }

  private func contractUpload(_ message: BridgeMessage) async -> JSONValue {
    // The contract has numbers for an upload that failed (2) and for one without a PIN (3), and no reasons.
    let result = (try? await upload(message, diagnosis: .notStated))?["result"] ?? 2
    let answer: JSONValue = ["result": result]
    pushes.send(BridgePush(MessageID.upload, answer))
    return answer
  }

  /// Uploads with the PIN that a message names.
  private func upload(
    _ message: BridgeMessage, diagnosis: Diagnosis
  ) async throws(BridgeFailure) -> JSONValue {
    guard let pin = message["pin"]?.string else { return ["result": 3, "reason": "invalidPIN"] }
    let isAbroad = message["isInteroperabilityEnabled"]?.asBool ?? false
    let operation = PhoneOperation.upload(sharesAbroad: isAbroad, diagnosis: diagnosis)
    return try await ask(operation, pin: ZeroingBytes(copying: pin.utf8)).uploadAnswer
  }
}

// MARK: Services

extension Bridge {
  private func services(_ message: BridgeMessage) async throws -> JSONValue? {
    switch message.type {
    case MessageID.notificationsPermission:
      try await ask(.choose(PhoneChoice(notifications: true)))
    case MessageID.setServices: try await setServices(message)
    default: return try await state().servicesMessage
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
    if let notifications { _ = try? await ask(.choose(PhoneChoice(notifications: notifications))) }
    guard notifications != true, let isOn = message["enableExposureNotificationService"]?.asBool
    else { return }
    // Message 51 states this result, too.
    _ = try? await ask(isOn ? .enable : .disable)
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
      try await ask(.remove(.everything))
      return nil
    case MessageID.clearExposureRisk:
      try await ask(.remove(.exposures))
      return try await state().riskLevelMessage
    case MessageID.removeActivities:
      guard !message.isMalformed, case .object? = message.content else {
        throw BridgeFailure.badRequest("Name the rows to remove.")
      }
      try await ask(.removeRows(message.rows))
      return nil
    default: return try await ask(.history).activitiesMessage
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
      guard let answer = try await statistics.subscribe(action == 1, to: district) else {
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
      try await ask(.choose(PhoneChoice(statistics: isWanted)))
    case MessageID.dashboard: return await statistics.dashboard()
    case MessageID.details: return await statistics.details()
    default: break
    }
    return ["isCovidStatsNotificationEnabled": try await state()["statisticsNews"] ?? false]
  }
}

// Our messages, from 1000: the parts of the web app for which the contract has no messages.
extension Bridge {
  func ownAnswer(to message: BridgeMessage) async throws -> JSONValue? {
    switch message.type {
    case MessageID.state: return try await state()
    case MessageID.exposures: return try await ask(.shownExposures)
    case MessageID.traffic: return try await ask(.traffic)
    case MessageID.exportMyData: return try await ask(.exportMyData)
    case MessageID.checkNow:
      let result = try await ask(.check)
      return [
        "ok": result["ok"] ?? false, "riskLevel": result["riskLevel"] ?? .null,
        "failure": result["failure"] ?? .null,
      ]
    case MessageID.guidedUpload: return try await guidedUpload(message)
    case MessageID.unfinishedUpload:
      let action = try message.word("action", PhoneOperation.UnfinishedUpload.self)
      let result = try await ask(.unfinishedUpload(action))
      await pushState()
      return action == .seen ? [:] : result.uploadAnswer
    case MessageID.uploadPreview:
      let pin = ZeroingBytes(copying: (message["pin"]?.string ?? "").utf8)
      return try await ask(.uploadPreview(try message.diagnosis), pin: pin)
    case MessageID.travel: return try await ask(.travel(to: message["to"]?.string))
    case MessageID.developer:
      let action = try message.word("action", DeveloperAction.self)
      guard try await state()["developer"] == true else { throw BridgeFailure.notDeveloper }
      return ["text": .string(try await reply(to: .develop(action)).text)]
    default:
      try await change(message)
      return try await state()
    }
  }

  /// The messages whose answer is the new state.
  private func change(_ message: BridgeMessage) async throws {
    switch message.type {
    case MessageID.onboarding:
      try await ask(.onboard(try message.word("step", PhoneOperation.Onboarding.self)))
    case MessageID.remove:
      // Only pages name the removal of damaged data so.
      let isOfDamage = message["what"] == "damaged"
      try await ask(
        isOfDamage
          ? .startOver : .remove(try message.word("what", PhoneOperation.Removal.self)))
    case MessageID.followingDays:
      let decision = try message.word("action", PhoneOperation.FollowingDays.self)
      let reply = try await reply(to: .followingDays(decision))
      guard reply.status == .done else { throw BridgeFailure.phone(reply.text) }
    case MessageID.preferences:
      try await ask(
        .choose(
          PhoneChoice(
            language: try message.language, hidesDetails: message["hidesDetails"]?.asBool,
            notifications: message["notifications"]?.asBool)))
    default: throw BridgeFailure.unknownMessage(message.type)
    }
    // For the other open pages of the owner.
    await pushState()
    if message["notifications"] != nil { await pushServices() }
    if message["language"] != nil { await pushLanguage() }
  }

  private func guidedUpload(_ message: BridgeMessage) async throws -> JSONValue {
    let result = try await upload(message, diagnosis: try message.diagnosis)
    // A page that was loaded again in the meantime gets the result with the state.
    await pushState()
    return result
  }
}

extension JSONValue {
  /// The answer to messages 1006 and 1007: `until` is there only if the entry of PINs is locked.
  fileprivate var uploadAnswer: JSONValue {
    let answer: JSONValue = ["result": self["result"] ?? 2, "reason": self["reason"] ?? .null]
    guard let until = self["until"], until != .null else { return answer }
    return answer.with(["until": until])
  }
}

extension BridgeMessage {
  /// The field `name`, which is one of the values of `Word`.
  fileprivate func word<Word: RawRepresentable<String> & CaseIterable>(
    _ name: String, _ type: Word.Type
  ) throws(BridgeFailure) -> Word {
    guard let word = self[name]?.string.flatMap(Word.init) else {
      let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw .badRequest("\(name) must be one of: \(words).")
    }
    return word
  }

  /// The chosen language; `nil` if the message names none.
  fileprivate var language: Language? {
    get throws(BridgeFailure) {
      self["language"]?.string == nil ? nil : try word("language", Language.self)
    }
  }

  /// The rows to remove; a missing list is empty. Rows of message 90 are checks, also those with exposures. Message
  /// 1001 has the exposures themselves.
  fileprivate var rows: PhoneOperation.Rows {
    let exposures = self["exposures"]?.asIdentifiers ?? []
    return PhoneOperation.Rows(
      notices: self["notifications"]?.asIdentifiers ?? [],
      checks: (self["riskChecks"]?.asIdentifiers ?? []) + exposures, exposures: exposures)
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
      guard let text = date["day"]?.string, let day = CalendarDay(text) else {
        throw .badRequest("date.day must be a day such as 2020-10-15.")
      }
      return kind == "test" ? .test(day: day) : .symptoms(day: day)
    }
  }
}
