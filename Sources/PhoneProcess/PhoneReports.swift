// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import KeyServerAPI
import RiskRules
import Secrets
import Synchronization
import TextEncodings
import World

// The results of operations as JSON objects, in the form of `PhoneState`.

/// The result of `check`.
package struct CheckReport: Encodable, Hashable, Sendable {
  package var ok: Bool
  @Nullable package var riskLevel: Int?
  @Nullable package var failure: String? = nil
  /// True if the health authority has paused checks.
  package var paused = false
  /// The reason why the last device configuration was rejected; `nil` if it was accepted.
  @Nullable package var configurationRefused: String? = nil
}

/// The result of `enable` and `disable`.
struct EnableReport: Encodable {
  let enabled: Bool
  let outcome: String
}

/// The checks and notices of the last fourteen days, oldest first: `history`.
package struct PhoneHistory: Encodable, Hashable, Sendable {
  package var checks: [Check] = []
  package var notices: [PhoneNotice] = []
  /// The times at which keys were shared.
  package var shared: [Date] = []
  /// The sharing of the keys of the days after an upload.
  @Nullable package var followingDays: PhoneState.FollowingDays? = nil
  @Nullable package var lastCheck: Date? = nil
  /// Keys analysed since 00:00 UTC.
  package var keysToday = 0
  /// Keys analysed today and on the six days before.
  package var keysInSevenDays = 0
  /// Keys analysed since the installation.
  package var keysTotal = 0

  /// A check that analysed key files.
  package struct Check: Encodable, Hashable, Sendable {
    package let id: String
    package let time: Date
    /// The number of analysed keys.
    package let keys: Int
    /// The number of keys that this phone has encountered.
    package let matchedKeys: Int
    /// The risk level that the check found, 0 to 3; `nil` while it is unknown.
    @Nullable package var riskLevel: Int?
  }
}

/// The exposures of the last fourteen days, newest first: `exposures`, and message 1001 of the bridge.
package struct PhoneExposures: Encodable, Hashable, Sendable {
  @Nullable package var riskLevel: Int?
  package let exposures: [Row]
  /// The version of the framework's interface: 1 or 2.
  package let version: Int

  /// An encounter, or a day of encounters.
  package struct Row: Encodable, Hashable, Sendable {
    package let id: String
    /// The UTC day, `YYYY-MM-DD`.
    package let date: String
    /// 0 to 3.
    package let riskLevel: Int
    package let seconds: Int
    /// The time by distance, from near to far.
    package let bands: [DistanceBand]
    /// The score of version 1; 0 in version 2.
    package let score: Int
    /// The same as `score`, which `exposures` has under this name.
    package let riskScore: Int
    /// The level of the policy for exposure windows: 1 or 2; absent without one.
    package let level: Int?
    /// The weighted minutes of version 2.
    @Nullable package var normalizedMinutes: Double?
    /// True if the owner hides details; then there are none.
    package let hidden: Bool
  }
}

/// The result of `upload`.
package struct UploadReport: Encodable, Hashable, Sendable {
  package var ok: Bool
  /// The category of ProteGO Safe: 1 to 5.
  package var result: Int
  /// The name of the reason of a failure.
  @Nullable package var reason: String?
  /// The end of a lock of the PIN entry, in Unix seconds.
  @Nullable package var until: Int? = nil
}

/// The keys that an upload would share, without the keys themselves.
package struct PhoneUploadPreview: Encodable, Hashable, Sendable {
  package let keys: [Key]
  /// The UTC days whose keys are not shared, because the phone's clock was wrong on them: `YYYY-MM-DD`.
  package var withheldDays: [String] = []
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

/// The result of `travel`.
struct TravelReport: Encodable {
  /// True if the owner has left the region; `nil` if nothing was recorded.
  @Nullable var traveled: Bool?
  let region: String
  /// True if damaged stays were found in the last fourteen days.
  let incomplete: Bool
}

/// All data about the owner: `export-my-data`. Keys and received identifiers are only counted: the keys would let
/// others recognize the owner, the identifiers belong to other people.
struct OwnerDataReport: Encodable {
  let status: PhoneState
  let exposures: PhoneExposures
  let history: PhoneHistory
  let stays: [Stay]
  /// The number of own keys that the phone stores.
  let ownKeys: Int
  let received: [Day]
  /// The record of sent requests and beacons.
  let sent: PhoneMessages
  let preferences: Preferences

  /// The choices of the owner for the user interface.
  struct Preferences: Encodable {
    let language: Language
    let hidesDetails: Bool
    let notifications: Bool
  }

  /// The last stay in a region.
  struct Stay: Encodable {
    let region: String
    let time: Date
  }

  /// The received beacons of one day.
  struct Day: Encodable {
    /// `YYYY-MM-DD`.
    let date: String
    let beacons: Int
  }
}

// The facts of a phone.
extension Phone {
  func state() async -> PhoneState {
    await app.reportDamage()
    let state = await app.currentState
    let (choices, shown) = (preferences.values, await notices.shown)
    let service = state.service.exposureNotifications
    return PhoneState(
      onboarding: await onboarding, enabled: device.isEnabled,
      authorized: device.authorizationStatus == .authorized,
      bluetooth: isRunning && device.status == .active,
      service: service == .on && !isRunning ? .off : service, radio: await radioState,
      supported: device.authorizationStatus != .restricted,
      riskLevel: Self.riskLevel(of: state),
      exposures: state.exposureCount, lastCheck: state.lastCheck,
      lastFailure: state.lastFailure?.rawValue, nextCheck: isRunning ? state.nextCheck : nil,
      checking: state.isChecking, paused: state.isPaused,
      configurationRefused: state.configurationRefusal?.description,
      storage: state.storage.rawValue, damaged: state.damage.map(\.content.rawValue),
      // A check reports why they cannot be read.
      droppedBeacons: try? await device.droppedSightings(),
      advice: await app.adviceEnd.map { PhoneState.Advice(until: $0, isOver: $0 < today) },
      positiveTest: state.reportedTest.map { positiveTest($0) },
      pendingUpload: state.hasPendingUpload, followingDays: Self.followingDays(of: state),
      upload: state.upload,
      lastUpload: lastUpload.withLock(\.self), language: choices.language,
      hidesDetails: choices.hidesDetails, notifications: choices.notifications,
      statisticsNews: choices.wantsStatistics, developer: developerRadio != nil,
      region: settings.region.region, lastCheckKeys: await app.checks.last?.keysCount ?? 0,
      notices: shown.count, shownNotices: shown, version: version,
      now: clock.now,
      languageChosen: choices.hasChosenLanguage ?? false, clockWrong: await app.isClockWrong,
      permissionUnreadable: device.consentFailure != nil)
  }

  /// The day in the owner's calendar.
  private var today: CalendarDay { CalendarDay(of: clock.now, in: zone) }

  private func positiveTest(_ test: ReportedTest) -> PhoneState.PositiveTest {
    let day = test.day(in: zone)
    let until = day.adding(days: AdviceRule.isolationDays)
    return PhoneState.PositiveTest(
      shared: test.shared, day: day, until: until, isOver: until < today,
      isRecent: test.isRecent(at: clock.now, in: zone))
  }

  /// The number of the level; `nil` while it is unknown. Without a complete check, nothing is known of the files.
  static func riskLevel(of state: AppState) -> Int? {
    state.lastCheck == nil && state.riskLevel == .none ? nil : state.riskLevel.known
  }

  private var onboarding: PhoneState.Onboarding {
    get async {
      switch await app.onboarding {
      case .finished: .finished
      case .readyToFinish: .consented
      case .secondChance: .declined
      case .askToEnable, .restricted: preferences.values.hasDeclined ? .declined : .new
      }
    }
  }

  func history() async -> PhoneHistory {
    var checks: [PhoneHistory.Check] = []
    for check in await app.checks {
      checks.append(
        PhoneHistory.Check(
          id: check.id.uuidString, time: check.date, keys: check.keysCount,
          matchedKeys: check.matchedKeyCount, riskLevel: await app.riskLevel(of: check).known))
    }
    let state = await app.currentState
    return PhoneHistory(
      checks: checks, notices: await notices.history, shared: state.reportedTest?.shared ?? [],
      followingDays: Self.followingDays(of: state), lastCheck: state.lastCheck,
      keysToday: await app.keysCount(ofDays: 1),
      keysInSevenDays: await app.keysCount(ofDays: RemovalRule.dayChecksDays),
      keysTotal: await app.totalKeysCount)
  }

  /// The exposures of the last fourteen days, newest first; with `isHidden`, only the days and levels.
  func exposures(isHidden: Bool = false) async -> PhoneExposures {
    var rows: [PhoneExposures.Row] = []
    for exposure in await app.exposures {
      let level = await app.riskLevel(of: exposure)
      rows.append(PhoneExposures.Row(exposure, level, isHidden: isHidden))
    }
    return PhoneExposures(
      riskLevel: Self.riskLevel(of: await app.currentState), exposures: rows,
      version: settings.apiVersion)
  }

  func ownerData() async throws -> OwnerDataReport {
    let counts = try await device.storedDataCounts()
    let choices = preferences.values
    return OwnerDataReport(
      status: await state(), exposures: await exposures(), history: await history(),
      stays: try travel.regions().map { OwnerDataReport.Stay(region: $0.region, time: $0.date) },
      ownKeys: counts.ownKeys,
      received: counts.sightings.sorted { $0.key < $1.key }.map {
        OwnerDataReport.Day(date: $0.key.dayText, beacons: $0.value)
      },
      sent: await PhoneMessages(in: messages, received: counts.sightings),
      preferences: OwnerDataReport.Preferences(
        language: choices.language, hidesDetails: choices.hidesDetails,
        notifications: choices.notifications))
  }

  /// The keys that an upload with this date would share, without the keys themselves.
  ///
  /// - Parameter pin: The PIN of the upload, which may continue an unfinished one; `nil` or empty before it is typed.
  /// - Throws: `ENError`, or an error of the storage.
  func uploadPreview(_ diagnosis: Diagnosis, pin: ZeroingBytes?) async throws
    -> PhoneUploadPreview
  {
    let periods = try await device.releasableKeys().map { (start: $0.start, period: $0.period) }
    let keys = await app.uploadPreview(of: periods, diagnosis: diagnosis, pin: pin)
    let today = UTCDay(of: clock.now)
    return PhoneUploadPreview(
      keys: keys.filter { !$0.isWithheld }.map {
        PhoneUploadPreview.Key(
          day: $0.day.description, transmissionRisk: $0.transmissionRisk,
          rollingPeriod: $0.rollingPeriod)
      },
      // A day of the future says nothing to the owner.
      withheldDays: Set(keys.filter { $0.isWithheld && $0.day <= today }.map(\.day)).sorted()
        .map(\.description),
      receiver: settings.app.keyServer.hostAndPort, region: settings.region.region)
  }
}

extension PhoneExposures.Row {
  init(_ exposure: Exposure, _ level: RiskLevel, isHidden: Bool) {
    let details = isHidden ? nil : exposure
    let score = details?.riskScore ?? 0
    self.init(
      id: exposure.id.uuidString, date: exposure.day.description, riskLevel: level.known ?? 0,
      seconds: Int(details?.durationSeconds ?? 0),
      bands: details?.bands ?? [], score: score, riskScore: score,
      level: details?.judgement?.level?.rawValue,
      normalizedMinutes: details?.judgement?.normalizedMinutes, hidden: isHidden)
  }
}

extension UploadReport {
  init(_ outcome: UploadOutcome) {
    self.init(
      ok: outcome.reason == nil, result: outcome.result.rawValue, reason: outcome.reason?.name)
    if case .locked(let end)? = outcome.reason {
      until = Int(end.timeIntervalSince1970.rounded(.up))
    }
  }
}

// The results as text.
extension PhoneHistory {
  var reply: PhoneReply {
    let lines = checks.map { check in
      let risk = check.riskLevel.map { "\($0)" } ?? "unknown"
      return
        "\(check.time.text): \(check.keys) keys, \(check.matchedKeys) encountered, risk \(risk)"
    }
    let past = notices.map { "\($0.time.text): notice: \($0.title)" }
    let shared = shared.map { "\($0.text): your keys were shared" }
    let sum = "Keys today: \(keysToday), in seven days: \(keysInSevenDays), in total: \(keysTotal)"
    let following = [followingDays?.words].compactMap(\.self)
    return PhoneReply(
      .done, (lines + past + shared + following + [sum]).joined(separator: "\n"), self)
  }
}

extension PhoneExposures {
  var reply: PhoneReply {
    let lines = exposures.map { exposure in
      let level = exposure.level.map { ", level \($0)" } ?? ""
      return
        "\(exposure.date) UTC: \((exposure.seconds + 59) / 60) minutes, score \(exposure.score)\(level)"
    }
    return PhoneReply(
      .done, lines.isEmpty ? "No exposures." : lines.joined(separator: "\n"), self)
  }
}

extension OwnerDataReport {
  // The text is the JSON itself: the data is the result.
  var reply: PhoneReply { PhoneReply(.done, PhoneReply(.done, "", self).json ?? "", self) }
}
