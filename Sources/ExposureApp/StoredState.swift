import Foundation
import KeyServerAPI

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
  /// Days that the user removed, so that later detections do not restore them; `nil` in old stores.
  var removedDays: [Exposure]?
  var history = CheckHistory()
  var notices = NoticeState()
  /// The newest accepted remote configuration.
  var remoteConfiguration: RemoteConfiguration?
  /// The newest accepted device configuration.
  var deviceConfiguration: AcceptedConfiguration?
  /// True if a withdrawn file may have caused exposures that only a new detection can undo.
  var mustDetectAgain = false
  /// The times of recently refused PINs.
  var refusedPINs: [Date] = []
  /// An upload that was started and has no final response yet.
  var pendingUpload: PendingUpload?
  /// The time of the next decoy.
  var nextDecoy: Date?
}

extension StoredState {
  /// Adds the exposures of one check.
  mutating func add(_ result: DetectedExposures) {
    if result.coversAllFiles {
      replaceDays(with: result.exposures)
    } else {
      add(result.exposures)
    }
  }

  /// Adds encounters. Two equal encounters on one day count twice, but analysing the same files again
  /// does not add them again.
  private mutating func add(_ found: [Exposure]) {
    var known = exposures
    for exposure in found {
      if let index = known.firstIndex(where: exposure.isSame) {
        known.remove(at: index)
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
      (removedDays ?? []).map { ($0.date, $0.judgement?.normalizedMinutes ?? 0) },
      uniquingKeysWith: max)
    let kept = days.filter { day in
      removed[day.date].map { day.judgement?.normalizedMinutes ?? 0 > $0 } ?? true
    }
    exposures.removeAll { $0.judgement != nil }
    exposures += kept.map { day in day.identified(as: before.first { $0.date == day.date }?.id) }
  }

  /// Removes all exposures; days from exposure windows are remembered as removed.
  mutating func removeExposures() {
    let judged = exposures.filter { $0.judgement != nil }
    let dates = Set(judged.map(\.date))
    let days = (removedDays ?? []).filter { !dates.contains($0.date) } + judged
    removedDays = days.isEmpty ? nil : days
    exposures = []
  }
}

extension Exposure {
  /// The same exposure with the ID that the app's lists already use.
  fileprivate func identified(as known: UUID?) -> Exposure {
    Exposure(
      id: known ?? id, date: date, durationSeconds: durationSeconds, riskScore: riskScore,
      judgement: judgement, files: files)
  }
}
