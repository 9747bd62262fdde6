import ExposureApp
import Foundation
import PhoneProcess
import Secrets

// ProteGO Safe's messages, 1 to 105.
extension Bridge {
  /// The answer to a message; `nil` if it has none.
  func contractAnswer(to message: BridgeMessage) async throws -> JSONValue? {
    switch message.type {
    // Nothing to do: no push topics, no store for reviews, and the browser closes pages, zooms and writes texts.
    case MessageID.dailyTopicUnsubscribe, MessageID.appReview, MessageID.turnOff, MessageID.sendSMS:
      return nil
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
    if let code = message["language"]?.asString, let language = Language(locale: code) {
      try await phone.choose(PhoneChoice(language: language))
      await pushState()
      await pushLanguage()
    }
    return await phone.state().languageJSON
  }

  private func contractUpload(_ message: BridgeMessage) async -> JSONValue {
    let result: PhoneUploadResult
    if let pin = message["pin"]?.asString {
      result = await phone.upload(
        PhoneUpload(
          pin: ZeroingBytes(copying: pin.utf8),
          sharesAbroad: message["isInteroperabilityEnabled"]?.asBool ?? false,
          diagnosis: .notStated))
    } else {
      result = .undecodable
    }
    let answer: JSONValue = ["result": .integer(result.result)]
    pushes.send(BridgePush(MessageID.upload, answer))
    return answer
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
    if let notifications { try? await phone.choose(PhoneChoice(notifications: notifications)) }
    guard notifications != true, let isOn = message["enableExposureNotificationService"]?.asBool
    else { return }
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
