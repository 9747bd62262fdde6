// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import TextEncodings

/// The state of a phone: `status`, and message 1000 of the bridge. In JSON the property names are the keys, times are
/// Unix seconds, and absent values are `null`. The names are a promise to other programs.
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

  /// The radio of a phone.
  package enum Radio: String, Encodable, Sendable {
    case on, off
    /// The phone has no Bluetooth controller.
    case none
    /// The phone does not run, so the radio is not used.
    case unused
  }

  /// The period in which the advice for encounters applies.
  package struct Advice: Encodable, Hashable, Sendable {
    /// The last day, in the owner's calendar.
    package let until: CalendarDay
    /// True after that day.
    package let isOver: Bool
  }

  /// A positive test that the owner has reported by sharing their keys.
  package struct PositiveTest: Encodable, Hashable, Sendable {
    /// The times at which keys were shared, oldest first.
    package let shared: [Date]
    /// The day of the test, of the first symptoms or of the first sharing, in the owner's calendar.
    package let day: CalendarDay
    /// The last day of the isolation.
    package let until: CalendarDay
    /// True after that day.
    package var isOver: Bool
    /// True on the day of the last sharing and some days after it, in which the owner is thanked.
    package var isRecent: Bool
  }

  package var onboarding: Onboarding
  /// True if the owner has turned exposure notifications on.
  package var enabled: Bool
  /// True if the owner has allowed them.
  package var authorized: Bool
  /// True if beacons are sent and received; false without a running phone.
  package var bluetooth: Bool
  /// The service of exposure notifications. It is never `on` without a running phone, which alone receives beacons.
  package var service: ServiceStatus.ExposureNotifications
  /// The radio, also while exposure notifications are off.
  package var radio: Radio
  /// False if exposure notifications are not allowed on this phone.
  package var supported: Bool
  /// The risk level of the last fourteen days, 0 to 3; `nil` while it is unknown.
  @Nullable package var riskLevel: Int?
  /// The number of exposures of the last fourteen days.
  package var exposures: Int
  /// The time of the last complete check; `nil` before the first.
  @Nullable package var lastCheck: Date?
  /// The name of the reason of the last failure; `nil` if the last check succeeded.
  @Nullable package var lastFailure: String?
  /// The time of the next check; `nil` if the phone is not running.
  @Nullable package var nextCheck: Date?
  /// True while a check is running.
  package var checking: Bool
  /// True while the health authority has paused checks and uploads.
  package var paused: Bool
  /// The reason why the last device configuration was rejected; `nil` if it was accepted.
  @Nullable package var configurationRefused: String?
  /// The condition of the app's storage: `ready` or a kind of damage.
  package var storage: String
  /// The kinds of stored data that were damaged and are not restored.
  package var damaged: [String]
  /// The received beacons of the last fourteen days that were not stored, because there were too many; `nil` if the
  /// received beacons cannot be read.
  @Nullable package var droppedBeacons: Int?
  /// The advice for the current risk; `nil` without a risk.
  @Nullable package var advice: Advice?
  /// The positive test that the owner has reported in the last fourteen days.
  @Nullable package var positiveTest: PositiveTest?
  /// True if an unfinished upload can be continued.
  package var pendingUpload: Bool
  /// The sharing of the keys of the days after an upload; `nil` if none was offered.
  @Nullable package var followingDays: FollowingDays? = nil
  /// The step of the running upload.
  @Nullable package var upload: UploadProgress?
  /// The result of the last upload since the start, until a user interface has shown it.
  @Nullable package var lastUpload: UploadReport?
  /// The language of texts.
  package var language: Language
  /// True if no details of exposures shall be shown.
  package var hidesDetails: Bool
  /// True if notices go to the desktop.
  package var notifications: Bool
  /// True if the owner wants news about the statistics.
  package var statisticsNews: Bool
  /// True for a phone that was started with `--developer`.
  package var developer: Bool
  /// The region of the phone.
  package var region: String
  /// The number of keys that the last check analysed.
  package var lastCheckKeys: Int
  /// The number of notices that are shown.
  package var notices: Int
  /// The shown notices with their texts, oldest first.
  package var shownNotices: [PhoneNotice]
  /// The version of the program.
  package var version: String
  /// The time of the phone's clock.
  package var now: Date
  /// True if the owner has chosen the language.
  package var languageChosen: Bool
  /// True if the phone's clock was wrong when it was compared last.
  package var clockWrong: Bool
  /// True if the owner's decisions cannot be read. Then exposure notifications are neither on nor off, and other
  /// fields say nothing about them.
  package var permissionUnreadable: Bool
}

extension PhoneState {
  var reply: PhoneReply { PhoneReply(.done, lines.joined(separator: "\n"), self) }

  private var lines: [String] {
    [
      "Exposure notifications: \(enabled ? "on" : "off")",
      "Bluetooth: \(radioWords)",
      "Risk: \(riskWords)",
      positiveTest.flatMap { $0.isOver && !$0.isRecent ? nil : Self.thanks($0) },
      advice.map { "Advice: \($0.isOver ? "ended on" : "applies until") \($0.until)" },
      "Exposures in the last fourteen days: \(exposures)",
      "Last check: \(lastCheck?.text ?? "never")",
      lastFailure.flatMap(CheckFailure.init).map { "Last failure: \($0.explanation)" },
      nextCheck.map { "Next check: \($0.text)" },
      paused ? "Paused: the health authority has paused checks and uploads." : nil,
      configurationRefused,
      StorageCondition(rawValue: storage)?.advice.map { "Storage: \($0)" },
      droppedBeacons.flatMap { $0 > 0 ? Self.dropped($0) : nil },
      pendingUpload
        ? "An upload is not finished: the phone repeats it; you can also repeat it with the same PIN."
        : nil,
      followingDays?.words, followingDays.flatMap(failure),
    ].compactMap { $0 } + shownNotices.map { "Notice: \($0.title). \($0.body)" }
  }

  private func failure(of sharing: FollowingDays) -> String? {
    sharing.failure.flatMap { Catalogues.installed.followingDaysText(of: $0) }
  }

  private static func thanks(_ test: PositiveTest) -> String {
    "Positive test: thank you for sharing your keys. "
      + (test.isOver
        ? "The time at home ended on \(test.until)."
        : "Stay at home until \(test.until), and follow the instructions of the health authority.")
  }

  private var radioWords: String {
    switch radio {
    case .unused: "not used, because the phone is not running"
    case .none: "this phone has no radio"
    case .on where !enabled: "on, and not used while exposure notifications are off"
    case .on, .off: radio.rawValue
    }
  }

  /// Without a complete check nothing is known; encounters below all levels are named.
  private var riskWords: String {
    if riskLevel == nil, lastCheck == nil { return "not known before the first complete check" }
    if riskLevel == 0, exposures > 0 {
      return "none, because the encounters were too short or too far away"
    }
    return (riskLevel.flatMap(RiskLevel.init) ?? .unknown).words
  }

  private static func dropped(_ count: Int) -> String {
    "Dropped: \(count) received beacons were not stored, because there were too many at once. Encounters of the last "
      + "fourteen days may be missing."
  }
}

/// A notice that is shown, or was in the last fourteen days, with its texts.
package struct PhoneNotice: Encodable, Hashable, Sendable {
  /// The ID in the history.
  package let id: String
  /// The kind: `risk`, `bluetooth-off`.
  package let kind: String
  /// The same as `kind`, which `status` and `history` have under this name.
  package let identifier: String
  package let title: String
  package let body: String
  package let time: Date
}

extension RiskLevel {
  /// The number of the level, 0 to 3; `nil` while it is unknown.
  var known: Int? { self == .unknown ? nil : rawValue }

  var words: String {
    switch self {
    case .unknown: "the risk is not known at the moment"
    case .none: "no relevant encounter is known"
    case .low: "low risk"
    case .medium: "moderate risk"
    case .high: "high risk"
    }
  }
}

extension Date {
  /// The day in UTC: `2020-10-15`.
  var dayText: String { UTCDay(of: self).description }

  /// The time in UTC: `2020-10-15 12:00 UTC`.
  var text: String {
    let time = Date.ISO8601FormatStyle(timeZone: .gmt).time(includingFractionalSeconds: false)
    return "\(dayText) \(formatted(time).prefix(5)) UTC"
  }
}

extension URL {
  /// The host and port: `127.0.0.1:8081`, or the host alone with the port of the scheme.
  package var hostAndPort: String {
    let host = host() ?? ""
    return port.map { "\(host):\($0)" } ?? host
  }
}
