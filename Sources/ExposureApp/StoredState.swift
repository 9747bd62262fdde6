// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import World

/// The app's persistent state. It is written as a whole, so that the cursor and the exposures found up
/// to it always change together. The property names are the JSON keys on disk.
struct StoredState: Codable, Sendable {
  /// The version of this format.
  var form = 1
  /// The user has completed the onboarding.
  var isOnboarded = false
  var download = DownloadCursor()
  /// The exposures found in the last fourteen days.
  var exposures: [Exposure] = []
  /// Encounters and days that the user removed, so that later detections do not restore them; `nil` if there are none.
  var removedDays: [Exposure]?
  var history = CheckHistory()
  var schedule = CheckSchedule()
  /// The time until which the key server has asked for no requests.
  var serverPause = ServerPause()
  var notices = NoticeState()
  /// The trust in the phone's clock, by which old data is removed.
  var retention = RetentionClock()
  /// The times at which the phone's clock was wrong; `nil` before the first comparison.
  var clockRecord: ClockRecord?
  /// The damage that was found.
  var damage = DamageRecord()
  /// The user has allowed exposure notifications before.
  var wasAuthorized = false
  /// The user has turned exposure notifications off in the app.
  var isTurnedOff = false
  /// The newest accepted remote configuration.
  var remoteConfiguration: RemoteConfiguration?
  /// The reason why the last device configuration was rejected; `nil` if it was accepted.
  var configurationRefusal: DeviceConfigurationError?
  /// The time since which no device configuration was accepted; `nil` if the last one was.
  var configurationFailingSince: Date?
  /// The newest accepted device configuration.
  var deviceConfiguration: AcceptedConfiguration?
  /// The keys that the framework trusts; `nil` before the first.
  var trustedKeys: Set<DeviceConfiguration.Key>?
  /// True if a withdrawn file may have caused exposures that only a new detection can undo.
  var mustDetectAgain = false
  /// The version of the remote configuration that the last detection used.
  var detectionRulesVersion: Int?
  /// The infectiousness map of the last detection with exposure windows.
  var infectiousness = InfectiousnessRecord()
  /// The versions of the configurations, for conditional requests.
  var configurationVersions: [String: ResponseVersion] = [:]
  /// The positive test that the user has reported; `nil` without one in the last fourteen days.
  var reportedTest: ReportedTest?
  /// The day that the user has stated for the upload that is not finished.
  var statedDay: CalendarDay?
  /// The date that the user has stated for the last upload.
  var diagnosis: Diagnosis?
  /// The sharing of the keys of the days after an upload.
  var followUp: FollowUp?
  /// The times of recently refused PINs.
  var refusedPINs: [Date] = []
  /// The time of the next decoy.
  var nextDecoy: Date?
}

extension StoredState {
  /// Adds the exposures of one check. While lost results are being computed again, a detection does not
  /// cover all files, and removes no day.
  mutating func add(_ result: DetectedExposures) {
    if result.coversAllFiles {
      // A detection by a wrong time does not find the encounters of its future and of a longer past.
      let isPartial =
        isClockWrong || damage.recoveringSince != nil && !download.isRestored
      let found = Set(result.exposures.map(\.day))
      let others = exposures.filter { $0.judgement != nil && !found.contains($0.day) }
      replaceDays(with: result.exposures + (isPartial ? others : []))
    } else {
      add(result.exposures)
    }
  }

  /// Adds encounters. Two equal encounters on one day count twice, in one file or in two, but analysing the same files
  /// or later editions of them again does not add them again.
  private mutating func add(_ found: [Exposure]) {
    var known = Array(exposures.indices)
    var others: [Exposure] = []
    for exposure in found {
      let index = known.firstIndex {
        exposure.mayBeSame(as: exposures[$0]) && exposure.riskScore == exposures[$0].riskScore
      }
      guard let index else {
        others.append(exposure)
        continue
      }
      exposures[known.remove(at: index)].merge(exposure)
    }
    var removed = (removedDays ?? []).filter { $0.judgement == nil }
    for exposure in others {
      if let index = known.firstIndex(where: { exposure.mayBeSame(as: exposures[$0]) }) {
        exposures[known.remove(at: index)].merge(exposure)
      } else if let index = removed.firstIndex(where: exposure.mayBeSame) {
        removed.remove(at: index)
      } else {
        exposures.append(exposure)
      }
    }
  }

  /// Replaces all days of earlier detections, because each detection of API version 2 covers the last
  /// fourteen days. A day that the user removed stays removed unless its normalized minutes have grown.
  private mutating func replaceDays(with days: [Exposure]) {
    let before = exposures.filter { $0.judgement != nil }
    let removed = Dictionary(
      (removedDays ?? []).compactMap { day in day.judgement.map { (day.day, $0.normalizedMinutes) }
      },
      uniquingKeysWith: max)
    let kept = days.filter { day in
      removed[day.day].map { day.judgement?.normalizedMinutes ?? 0 > $0 } ?? true
    }
    exposures.removeAll { $0.judgement != nil }
    for var day in kept {
      // The ID that the app's lists already use.
      if let known = before.first(where: { $0.day == day.day }) { day.id = known.id }
      exposures.append(day)
    }
  }

  /// The value after a loss: all files of the last fourteen days are analysed again.
  static func restored(isAuthorized: Bool, at now: Date) -> StoredState {
    var state = StoredState()
    // Without the user's consent to the system, the onboarding was not completed.
    state.isOnboarded = isAuthorized
    state.wasAuthorized = isAuthorized
    _ = state.note(DataDamage(.appState, found: now))
    return state
  }

  /// Records damage. Returns `false` if it was known. Lost results are computed again.
  mutating func note(_ found: DataDamage) -> Bool {
    guard damage.add(found) else { return false }
    if found.content.isRestoredByChecking { download.restart() }
    return true
  }

  /// Removes exposures. Those that a later detection may find again are remembered as removed.
  mutating func removeExposures(where predicate: (Exposure) -> Bool = { _ in true }) {
    let removed = exposures.filter { ($0.judgement != nil || $0.files != nil) && predicate($0) }
    let days = Set(removed.filter { $0.judgement != nil }.map(\.day))
    let earlier = (removedDays ?? []).filter { $0.judgement == nil || !days.contains($0.day) }
    removedDays = earlier.isEmpty && removed.isEmpty ? nil : earlier + removed
    exposures.removeAll(where: predicate)
  }
}

extension StoredState {
  /// True if the phone's clock was wrong when it was compared last, and no second source finds it right.
  var isClockWrong: Bool { clockRecord?.countsAsWrong ?? false }

  /// The error of the phone's clock at `now`; `nil` if the clock counts as right. It counts also while no second source
  /// has answered, because data that a wrong clock removes is lost. Without a network, a clock is wrong that is before
  /// the last signed document.
  func clockError(at now: Date) -> ClockError? {
    if isClockWrong { return ClockError(secondsAhead: clockRecord?.lastWrong?.secondsAhead) }
    let latest = now.addingTimeInterval(ClockRule.differenceSecondsMax).unixSecond
    let isBehind = deviceConfiguration.map { $0.document.issued > latest } ?? false
    return isBehind ? ClockError(secondsAhead: nil) : nil
  }

  /// The data to keep at `now`. A clock that has jumped ahead removes nothing until its time has persisted. One that is
  /// known to be a day or more off removes only what the trusted time, which advances by the time that passes, does not
  /// keep either.
  func retentionPeriod(at now: Date) -> RetentionPeriod {
    var clock = retention
    let error = clockError(at: now)
    clock.read(now, with: error)
    return clock.period(at: now, with: error)
  }

  /// The date of the oldest exposure that is kept at `now`.
  func oldestExposure(at now: Date) -> Date {
    RemovalRule.oldestExposure(at: retentionPeriod(at: now).earliest)
  }

  /// Removes all data that has expired at `now`, when `passed` seconds have passed since the last removal.
  mutating func removeOld(at now: Date, passed: TimeInterval? = nil) {
    retention.read(now, passed: passed, with: clockError(at: now))
    let oldest = oldestExposure(at: now)
    exposures.removeAll { $0.day.start < oldest }
    removedDays?.removeAll { $0.day.start < oldest }
    history.prune(keeping: retentionPeriod(at: now))
    damage.prune(before: oldest)
    if let last = reportedTest?.shared.last, last < oldest { reportedTest = nil }
    if let followUp, followUp.lastDay.start < oldest { self.followUp = nil }
    if !isClockWrong { refusedPINs = PINLock.relevant(refusedPINs, at: now) }
  }
}
