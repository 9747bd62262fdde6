// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation

/// The state of a phone, as its user interface shows it. Times are Unix seconds; the property names are the JSON
/// keys, and absent values are `null`.
package struct PhoneState: Encodable, Hashable, Sendable {
  /// The step of the onboarding.
  package enum Onboarding: String, Encodable, Sendable {
    /// The owner has not decided.
    case new
    /// The owner has declined; the user interface offers a second chance.
    case declined
    /// The owner has consented, and has not read the remaining screens.
    case consented
    /// The onboarding is complete.
    case finished
  }

  /// The step of a running upload.
  package enum Upload: String, Encodable, Sendable {
    case waitingForConsent, requestingToken, sending
  }

  /// The result of an upload.
  package struct UploadResult: Encodable, Hashable, Sendable {
    /// The category of ProteGO Safe: 1 to 5.
    package let result: Int
    /// The name of the reason of a failure.
    @Nullable package var reason: String?
    /// The end of a lock of the PIN entry.
    @Nullable package var until: Int?
  }

  package var onboarding: Onboarding
  /// True if the owner has turned exposure notifications on.
  package var enabled: Bool
  /// True if the owner has allowed them.
  package var authorized: Bool
  /// True if beacons are sent and received.
  package var bluetooth: Bool
  /// False if exposure notifications are not allowed on this phone.
  package var supported: Bool
  /// The risk level, 0 to 3; `nil` while it is unknown.
  @Nullable package var riskLevel: Int?
  /// The number of exposures of the last fourteen days.
  package var exposures: Int
  /// The time of the last complete check.
  @Nullable package var lastCheck: Int?
  /// The name of the reason why the last check failed.
  @Nullable package var lastFailure: String?
  /// The time of the next check; `nil` if the phone is not running.
  @Nullable package var nextCheck: Int?
  /// True while a check is running.
  package var checking: Bool
  /// True while the health authority has paused checks and uploads.
  package var paused: Bool
  /// The reason why the last device configuration was rejected.
  @Nullable package var configurationRefused: String?
  /// The condition of the app's storage: `ready` or a kind of damage.
  package var storage: String
  /// The kinds of stored data that were damaged and are not restored.
  package var damaged: [String]
  /// True if an unfinished upload can be continued.
  package var pendingUpload: Bool
  /// The step of the running upload.
  @Nullable package var upload: Upload?
  /// The result of the last upload since the start, until a user interface has shown it.
  @Nullable package var lastUpload: UploadResult?
  /// The language of texts.
  package var language: Language
  /// True if no details of exposures shall be shown.
  package var hidesDetails: Bool
  /// True if notices go to the desktop.
  package var notifications: Bool
  /// True for a phone that was started with `--developer`.
  package var developer: Bool
  /// The region of the phone.
  package var region: String
  /// The number of keys that the last check analysed.
  package var lastCheckKeys: Int
  /// The shown notices, oldest first.
  package var notices: [NoticeRow]
  /// The version of the program.
  package var version: String
  /// The time of the phone's clock.
  package var now: Int
  /// True if the owner has chosen the language.
  package var languageChosen = false
  /// True if the phone's clock was wrong when it was compared last.
  package var clockWrong = false

  /// A shown notice, or one of the history.
  package struct NoticeRow: Encodable, Hashable, Sendable {
    /// The ID in the history.
    package let id: String
    /// The kind: `risk`, `bluetooth-off`.
    package let kind: String
    package let time: Int
    package let title: String
    package let body: String
  }
}

/// The checks and notices of the last fourteen days, newest first.
package struct PhoneHistory: Encodable, Hashable, Sendable {
  package let checks: [Check]
  package let notices: [PhoneState.NoticeRow]
  /// Keys analysed since 00:00 UTC.
  package let keysToday: Int
  /// Keys analysed today and on the six days before.
  package let keysInSevenDays: Int
  /// Keys analysed since the installation.
  package let keysTotal: Int

  /// A check that analysed key files.
  package struct Check: Encodable, Hashable, Sendable {
    package let id: String
    package let time: Int
    /// The number of analysed keys.
    package let keys: Int
    /// The number of keys that this phone has encountered.
    package let matchedKeys: Int
    /// The risk level that the check found, 0 to 3; `nil` while it is unknown.
    @Nullable package var riskLevel: Int?
  }
}

/// The exposures of the last fourteen days, as a user interface explains them. The property names are the JSON keys,
/// and absent values are `null`.
package struct PhoneExposureDetails: Encodable, Hashable, Sendable {
  package let exposures: [ExposureRow]
  /// The version of the framework's interface: 1 or 2.
  package let version: Int

  /// An encounter, or a day of encounters.
  package struct ExposureRow: Encodable, Hashable, Sendable {
    package let id: String
    /// `YYYY-MM-DD`.
    package let date: String
    /// 0 to 3.
    package let riskLevel: Int
    package let seconds: Int
    /// The time by distance, from near to far.
    package let bands: [Band]
    /// The score of version 1; 0 in version 2.
    package let score: Int
    /// The weighted minutes of version 2.
    @Nullable package var normalizedMinutes: Double?
    /// True if the owner hides details; then there are none.
    package let hidden: Bool
  }

  /// The time within one range of attenuation.
  package struct Band: Encodable, Hashable, Sendable {
    /// In dB; `nil` for the farthest range.
    @Nullable package var maximumAttenuation: Int?
    package let seconds: Int
    package let weightPercent: Int
  }
}

extension PhoneExposureDetails.ExposureRow {
  init(_ exposure: Exposure, _ level: RiskLevel, isHidden: Bool) {
    self.init(
      id: exposure.id.uuidString, date: exposure.date.dayText, riskLevel: level.known ?? 0,
      seconds: isHidden ? 0 : Int(exposure.durationSeconds),
      bands: isHidden
        ? []
        : exposure.bands.map {
          PhoneExposureDetails.Band(
            maximumAttenuation: $0.maximumAttenuation, seconds: $0.seconds,
            weightPercent: $0.weightPercent)
        },
      score: isHidden ? 0 : exposure.riskScore,
      normalizedMinutes: isHidden ? nil : exposure.judgement?.normalizedMinutes, hidden: isHidden)
  }
}

/// The keys that an upload would share, without the keys themselves.
package struct PhoneUploadPreview: Encodable, Hashable, Sendable {
  package let keys: [Key]
  /// The host and port of the key server.
  package let receiver: String
  package let region: String

  /// A key of the owner.
  package struct Key: Encodable, Hashable, Sendable {
    /// `YYYY-MM-DD`.
    package let day: String
    /// 1 to 8.
    package let transmissionRisk: Int
    /// The number of ten-minute intervals.
    package let rollingPeriod: Int
  }
}

/// The messages of the last fourteen days, newest first, as a user interface shows them. The property
/// names are the JSON keys, and absent values are `null`.
package struct PhoneMessages: Encodable, Hashable, Sendable {
  package let messages: [Message]
  package let beacons: [Beacons]

  /// A request and its response.
  package struct Message: Encodable, Hashable, Sendable {
    package let id: String
    /// Unix seconds.
    package let time: Int
    package let kind: String
    package let receiver: String
    /// The host and port of the server.
    package let host: String
    /// The bytes of the request's body.
    package let sent: Int
    /// The bytes of the response's body.
    package let received: Int
    /// The HTTP status; `nil` without a response.
    @Nullable package var status: Int?
    /// The name of the `NetworkFailure`; `nil` with a response.
    @Nullable package var failure: String?
  }

  /// The beacons of one day.
  package struct Beacons: Encodable, Hashable, Sendable {
    /// `YYYY-MM-DD`.
    package let date: String
    /// The number of sent identifiers.
    package let sent: Int
    /// The number of received beacons.
    package let received: Int
  }
}

/// A property whose absent value is encoded as `null`.
@propertyWrapper
package struct Nullable<Value: Encodable & Hashable & Sendable>: Encodable, Hashable, Sendable {
  package var wrappedValue: Value?

  package init(wrappedValue: Value?) {
    self.wrappedValue = wrappedValue
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

extension URL {
  /// The host and port: `127.0.0.1:8081`, or the host alone with the port of the scheme.
  package var hostAndPort: String {
    let host = host() ?? ""
    return port.map { "\(host):\($0)" } ?? host
  }
}

extension Date {
  /// The day in UTC: `2020-10-15`.
  var dayText: String {
    formatted(Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day())
  }
}
