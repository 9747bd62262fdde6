// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import PhoneProcess
import Secrets
import TextEncodings

/// The phone, as the bridge uses it. `PhoneBackend` is the real one.
///
/// Every call follows an action of the owner on a page, which is the consent that some calls need.
package protocol BridgePhone: Sendable {
  /// Makes a sequence that yields an element after each change of the state.
  func makeChanges() -> AsyncStream<Void>
  /// The state.
  func state() async -> PhoneState
  /// The services of messages 51 and 52.
  func services() async -> PhoneServices

  /// Turns exposure notifications on or off.
  func setExposureNotifications(_ isOn: Bool) async throws(BridgePhoneError)
  /// Changes choices of the owner.
  func choose(_ choice: PhoneChoice) async throws(BridgePhoneError)
  /// True if the owner wants news about statistics (100 and 101).
  func wantsStatistics() async -> Bool

  /// The rows of message 90.
  func activities() async -> PhoneActivities
  /// Removes rows of message 90.
  func removeActivities(_ rows: PhoneActivityRows) async throws(BridgePhoneError)
  /// The numbers of checked keys.
  func checkTotals() async -> PhoneCheckTotals
  /// Removes data of this kind.
  func remove(_ what: PhoneRemoval) async throws(BridgePhoneError)

  /// Uploads the phone's keys.
  func upload(_ upload: PhoneUpload) async -> PhoneUploadResult
  /// Continues an unfinished upload, or discards it.
  func resolveUpload(continuing: Bool) async throws(BridgePhoneError) -> PhoneUploadResult
  /// Records that the owner has seen the result of the last upload.
  func noteUploadShown() async
  /// The keys that an upload would share, without the keys.
  func uploadPreview(_ diagnosis: Diagnosis) async throws(BridgePhoneError) -> JSONValue

  /// Downloads and analyses key files now.
  func check() async throws(BridgePhoneError) -> PhoneCheckResult
  /// The exposures with their bands of distance, as message 1001 has them.
  func exposures() async -> JSONValue
  /// The messages and beacons that left the phone, as message 1002 has them.
  func traffic() async throws(BridgePhoneError) -> JSONValue
  /// All data about the owner.
  func ownerData() async throws(BridgePhoneError) -> JSONValue
  /// A step of the onboarding.
  func onboard(_ step: PhoneOnboarding) async throws(BridgePhoneError)
  /// Records a stay in `region` if there is one, and returns if the owner has left the home region.
  func travel(to region: String?) async throws(BridgePhoneError) -> JSONValue
  /// An action for developers; the text of its result.
  func develop(_ action: DeveloperAction) async throws(BridgePhoneError) -> String
}

/// The reason why the phone does not do something; a sentence for its owner.
package enum BridgePhoneError: Error, Hashable, Sendable {
  /// The request is not valid.
  case badRequest(String)
  /// The phone was not started for developers.
  case notDeveloper
  /// The phone failed or refuses.
  case failed(String)
}

/// The services of messages 51 and 52.
package struct PhoneServices: Hashable, Sendable {
  /// 1 on, 2 off, 3 not supported.
  package var exposureNotifications: Int
  /// True if Bluetooth is on.
  package var isBluetoothOn: Bool
  /// True if the owner wants notices.
  package var areNotificationsOn: Bool

  package init(exposureNotifications: Int, isBluetoothOn: Bool, areNotificationsOn: Bool) {
    self.exposureNotifications = exposureNotifications
    self.isBluetoothOn = isBluetoothOn
    self.areNotificationsOn = areNotificationsOn
  }
}

/// A choice of the owner; `nil` leaves it as it is.
package struct PhoneChoice: Hashable, Sendable {
  package var language: Language?
  /// True to hide the details of exposures.
  package var hidesDetails: Bool?
  /// True to be shown notices.
  package var notifications: Bool?
  /// True for news about statistics.
  package var statistics: Bool?

  package init(
    language: Language? = nil, hidesDetails: Bool? = nil, notifications: Bool? = nil,
    statistics: Bool? = nil
  ) {
    self.language = language
    self.hidesDetails = hidesDetails
    self.notifications = notifications
    self.statistics = statistics
  }
}

/// The kinds of data that a page can remove.
package enum PhoneRemoval: String, Hashable, Sendable, CaseIterable {
  case exposures, history, notices, everything
  /// Sets damaged data of the app aside.
  case damaged
}

/// The steps of the onboarding that a page reports.
package enum PhoneOnboarding: String, Hashable, Sendable, CaseIterable {
  case consent, decline, finish
}

/// An upload as a page asks for it.
package struct PhoneUpload: Sendable, Redacted {
  /// The PIN as typed.
  package let pin: ZeroingBytes
  /// True to share the keys with other countries.
  package let sharesAbroad: Bool
  /// The date that determines the transmission risk of the keys.
  package let diagnosis: Diagnosis
}

/// The result of an upload.
package struct PhoneUploadResult: Hashable, Sendable {
  /// The category of ProteGO Safe: 1 to 5.
  package let result: Int
  /// The name of an `UploadFailure`; `nil` for a success.
  package let reason: String?
  /// The time in Unix seconds until which PINs are refused; `nil` if they are not.
  package let until: Int?

  package init(result: Int, reason: String?, until: Int? = nil) {
    self.result = result
    self.reason = reason
    self.until = until
  }

  /// The result of a request that does not name a PIN.
  static let undecodable = PhoneUploadResult(result: 3, reason: "invalidPIN")
}

/// The result of a check.
package struct PhoneCheckResult: Hashable, Sendable {
  package let riskLevel: Int?
  /// The name of a `CheckFailure`; `nil` for a success.
  package let failure: String?

  package init(riskLevel: Int?, failure: String?) {
    self.riskLevel = riskLevel
    self.failure = failure
  }
}

/// The rows of message 90. Every row has an identifier, with which message 91 removes it.
package struct PhoneActivities: Hashable, Sendable {
  // Times are Unix seconds.

  /// A notice.
  package struct Notification: Hashable, Sendable {
    package let id: String
    package let time: Int
    package let title: String
    package let content: String

    package init(id: String, time: Int, title: String, content: String) {
      self.id = id
      self.time = time
      self.title = title
      self.content = content
    }
  }

  /// A check that analysed key files.
  package struct RiskCheck: Hashable, Sendable {
    package let id: String
    package let time: Int
    package let exposures: Int
    package let keys: Int

    package init(id: String, time: Int, exposures: Int, keys: Int) {
      self.id = id
      self.time = time
      self.exposures = exposures
      self.keys = keys
    }
  }

  /// A check that found exposures.
  package struct Exposure: Hashable, Sendable {
    package let id: String
    package let time: Int
    package let exposures: Int
    package let riskLevel: Int

    package init(id: String, time: Int, exposures: Int, riskLevel: Int) {
      self.id = id
      self.time = time
      self.exposures = exposures
      self.riskLevel = riskLevel
    }
  }

  package var notifications: [Notification]
  package var riskChecks: [RiskCheck]
  package var exposures: [Exposure]

  package init(
    notifications: [Notification] = [], riskChecks: [RiskCheck] = [], exposures: [Exposure] = []
  ) {
    self.notifications = notifications
    self.riskChecks = riskChecks
    self.exposures = exposures
  }

  var json: JSONValue {
    [
      "notifications": .array(
        notifications.map {
          [
            "id": .string($0.id), "timestamp": .integer($0.time),
            "title": .string($0.title), "content": .string($0.content),
          ]
        }),
      "riskChecks": .array(
        riskChecks.map {
          [
            "id": .string($0.id), "timestamp": .integer($0.time),
            "exposures": .integer($0.exposures), "keys": .integer($0.keys),
          ]
        }),
      "exposures": .array(
        exposures.map {
          [
            "id": .string($0.id), "timestamp": .integer($0.time),
            "exposures": .integer($0.exposures), "riskLevel": .integer($0.riskLevel),
          ]
        }),
    ]
  }
}

/// The identifiers of rows to remove.
package struct PhoneActivityRows: Hashable, Sendable {
  package let notifications: [String]
  package let riskChecks: [String]
  package let exposures: [String]

  /// Reads the content of message 91; a missing list is empty.
  init(_ content: BridgeMessage) {
    notifications = content["notifications"]?.asIdentifiers ?? []
    riskChecks = content["riskChecks"]?.asIdentifiers ?? []
    exposures = content["exposures"]?.asIdentifiers ?? []
  }
}

/// The numbers of message 103.
package struct PhoneCheckTotals: Hashable, Sendable {
  package let lastCheck: Int?
  package let today: Int
  package let lastSevenDays: Int
  package let total: Int

  package init(lastCheck: Int?, today: Int, lastSevenDays: Int, total: Int) {
    self.lastCheck = lastCheck
    self.today = today
    self.lastSevenDays = lastSevenDays
    self.total = total
  }

  /// Empty before the first check.
  var json: JSONValue {
    guard let lastCheck else { return [:] }
    return [
      "riskCheck": [
        "lastRiskCheckTimestamp": .integer(lastCheck),
        "todayKeysCount": .integer(today), "last7daysKeysCount": .integer(lastSevenDays),
        "totalKeysCount": .integer(total),
      ]
    ]
  }
}
