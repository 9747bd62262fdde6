// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import PhoneProcess
import Secrets
import TextEncodings
import World

/// A real phone for the bridge. A request is an action of the owner on a page, which is the consent that some requests
/// need.
package struct PhoneBackend: BridgePhone {
  private let phone: Phone

  /// The phone that `phone` runs.
  package init(_ phone: Phone) {
    self.phone = phone
  }

  package func makeChanges() -> AsyncStream<Void> {
    let changes = phone.makeChanges()
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let reading = Task {
      for await _ in changes { continuation.yield() }
      continuation.finish()
    }
    continuation.onTermination = { _ in reading.cancel() }
    return stream
  }

  package func state() async -> PhoneState { await phone.state() }

  package func services() async -> PhoneServices {
    let service = await phone.app.serviceStatus
    return PhoneServices(
      exposureNotifications: service.exposureNotifications.rawValue,
      isBluetoothOn: service.isBluetoothOn,
      areNotificationsOn: phone.preferences.values.notifications)
  }

  /// Runs `work` and turns its error into a sentence for the owner.
  private func reporting<Value>(
    _ work: () async throws -> Value
  ) async throws(BridgePhoneError) -> Value {
    do {
      return try await work()
    } catch let error as BridgePhoneError {
      throw error
    } catch let failure as StorageFailure {
      throw .failed(failure.description)
    } catch let error as ENError {
      throw .failed(error.localizedDescription)
    } catch {
      throw .failed(
        "The phone could not read or store its data: check the disk, then try again.")
    }
  }

  /// Performs an operation with the owner's consent.
  @discardableResult
  private func perform(_ operation: PhoneOperation) async throws(BridgePhoneError) -> JSONValue {
    let reply = await phone.perform(PhoneRequest(operation))
    if reply.status == .badInput { throw .badRequest(reply.text) }
    guard let json = reply.json, let result = JSONValue(text: json) else {
      throw .failed(reply.text)
    }
    return result
  }
}

// MARK: Changes by the owner

extension PhoneBackend {
  package func setExposureNotifications(_ isOn: Bool) async throws(BridgePhoneError) {
    try await perform(isOn ? .enable : .disable)
  }

  package func choose(_ choice: PhoneChoice) async throws(BridgePhoneError) {
    try await reporting {
      try phone.setPreferences(
        language: choice.language, hidesDetails: choice.hidesDetails,
        notifications: choice.notifications)
      if let statistics = choice.statistics {
        try phone.preferences.update { $0.wantsStatistics = statistics }
      }
    }
  }

  package func wantsStatistics() async -> Bool { phone.preferences.values.wantsStatistics }

  package func remove(_ what: PhoneRemoval) async throws(BridgePhoneError) {
    if what == .damaged {
      try await perform(.startOver)
      return
    }
    try await perform(.remove(PhoneOperation.Removal(rawValue: what.rawValue) ?? .notices))
  }

  package func removeActivities(_ rows: PhoneActivityRows) async throws(BridgePhoneError) {
    try await reporting {
      try await phone.removeNotices(ids: rows.notifications)
      try await phone.removeChecks(ids: rows.riskChecks + rows.exposures)
      // Rows of message 90 are checks, also those with exposures. Message 1001 has the exposures themselves.
      try await phone.removeExposures(ids: rows.exposures)
    }
  }

  package func onboard(_ step: PhoneOnboarding) async throws(BridgePhoneError) {
    try await reporting {
      switch step {
      case .consent: _ = try await phone.consentToNotifications()
      case .decline: try phone.declineNotifications()
      case .finish: try await phone.finishOnboarding()
      }
    }
  }

  package func travel(to region: String?) async throws(BridgePhoneError) -> JSONValue {
    if let region, !TravelLimit.isRegion(region) {
      throw .badRequest("A region is a code such as PL or US-CA.")
    }
    return try await perform(.travel(to: region))
  }

  package func develop(_ action: DeveloperAction) async throws(BridgePhoneError) -> String {
    guard phone.developerRadio != nil else { throw .notDeveloper }
    return try await reporting { try await phone.develop(action) }
  }
}

// MARK: Reports

extension PhoneBackend {
  package func activities() async -> PhoneActivities {
    let rows = await phone.rows()
    return PhoneActivities(
      notifications: rows.notices.map {
        PhoneActivities.Notification(
          id: $0.id, time: $0.time, title: $0.title, content: $0.body)
      },
      riskChecks: rows.checks.map {
        PhoneActivities.RiskCheck(
          id: $0.id, time: $0.time, exposures: $0.matchedKeys, keys: $0.keys)
      },
      exposures: rows.checks.filter { $0.matchedKeys > 0 }.map {
        PhoneActivities.Exposure(
          id: $0.id, time: $0.time, exposures: $0.matchedKeys, riskLevel: $0.riskLevel ?? 0)
      })
  }

  package func checkTotals() async -> PhoneCheckTotals {
    let (rows, state) = (await phone.rows(), await phone.state())
    return PhoneCheckTotals(
      lastCheck: state.lastCheck, today: rows.keysToday, lastSevenDays: rows.keysInSevenDays,
      total: rows.keysTotal)
  }

  package func exposures() async -> JSONValue { JSONValue(answer: await phone.details()) }

  package func traffic() async throws(BridgePhoneError) -> JSONValue {
    try await reporting { JSONValue(answer: try await phone.sentMessages()) }
  }

  package func ownerData() async throws(BridgePhoneError) -> JSONValue {
    try await perform(.exportMyData)
  }
}

// MARK: Checks and uploads

extension PhoneBackend {
  package func check() async throws(BridgePhoneError) -> PhoneCheckResult {
    let report = try await perform(.check)
    return PhoneCheckResult(
      riskLevel: report["riskLevel"]?.asInteger, failure: report["failure"]?.string)
  }

  package func upload(_ upload: PhoneUpload) async -> PhoneUploadResult {
    PhoneUploadResult(
      await phone.upload(
        pin: upload.pin, sharesAbroad: upload.sharesAbroad, diagnosis: upload.diagnosis))
  }

  package func resolveUpload(
    continuing: Bool
  ) async throws(BridgePhoneError) -> PhoneUploadResult {
    guard continuing else {
      try await reporting { try await phone.forgetUpload() }
      return PhoneUploadResult(result: UploadResult.canceled.rawValue, reason: nil)
    }
    guard let outcome = await phone.continueUpload() else {
      throw .badRequest("There is no unfinished upload: enter a PIN.")
    }
    return PhoneUploadResult(outcome)
  }

  package func noteUploadShown() async { phone.noteUpload(nil) }

  package func uploadPreview(_ diagnosis: Diagnosis) async throws(BridgePhoneError) -> JSONValue {
    try await reporting { JSONValue(answer: try await phone.uploadPreview(diagnosis)) }
  }
}

extension PhoneUploadResult {
  fileprivate init(_ outcome: UploadOutcome) {
    self.init(
      result: outcome.result.rawValue, reason: outcome.reason?.name, until: outcome.lockEnd)
  }
}
