// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The notices that are shown, and the encounters of which the user was notified. Days are numbers of days since
/// 1970. The property names are the JSON keys on disk.
struct NoticeState: Codable, Sendable, Equatable {
  /// The days of which the user was notified, with their levels; `unknown` for a day whose results are computed again.
  /// `nil` in the state of a version that stored only levels: then the user was notified of all stored days.
  private(set) var notifiedDays: [Int: RiskLevel]? = [:]
  /// The days that the last risk notice is about; `nil` for all.
  private(set) var noticeDays: Set<Int>?
  /// The last day with an encounter that was withdrawn after the user was notified of it.
  private(set) var correctedDay: Int?
  /// The expiry of the unfinished upload of whose end the user was notified.
  var notifiedUploadEnd: Date?
  /// The time at which the notice about an upload ends.
  var uploadNoticeEnd: Date?
  /// The version of the rules by which the levels were last followed; `nil` in the state of an earlier version.
  private var rulesVersion: Int?
  /// The time of the last Bluetooth notice.
  var lastBluetoothNotice: Date?
  /// The kinds of the notices that are shown.
  var visible: Set<Notice.Identifier> = []

  private enum CodingKeys: String, CodingKey {
    case notifiedDays = "told"
    case noticeDays = "shownDays"
    case notifiedUploadEnd = "toldUpload"
    case correctedDay, uploadNoticeEnd, rulesVersion, lastBluetoothNotice, visible
  }

  /// The shortest interval between two Bluetooth notices, in seconds.
  static let bluetoothNoticeSeconds: TimeInterval = 86_400

  /// Returns those of `days` of which the user was not notified, or only of a lower level.
  func due(_ days: [Int: RiskLevel]) -> [Int: RiskLevel] {
    guard let notifiedDays else { return [:] }
    return days.filter { $0.value > notifiedDays[$0.key] ?? .none }
  }

  /// Records that the user was notified of `days`.
  mutating func markShown(_ days: [Int: RiskLevel]) {
    notifiedDays = (notifiedDays ?? [:]).merging(days) { $1 }
    noticeDays = Set(days.keys)
    correctedDay = nil
    visible.insert(.risk)
  }

  /// Returns `true` if the last risk notice is still true: one of its days has the level that the user was shown.
  func isTrue(of days: [Int: RiskLevel]) -> Bool {
    days.contains { day, level in
      noticeDays?.contains(day) != false && level >= notifiedDays?[day] ?? .none
    }
  }

  /// Follows the current `days`: forgets those before `oldest`, and notes those that have changed for the better.
  ///
  /// - Parameters:
  ///   - isKnown: False while lost or undone results are computed again; a missing day may return then.
  ///   - version: The version of the rules that gave the levels. New rules are no correction of an encounter.
  mutating func follow(
    _ days: [Int: RiskLevel], isKnown: Bool, rules version: Int, after oldest: Date
  ) {
    var notified = (notifiedDays ?? days).filter { Date(unixDay: $0.key) >= oldest }
    let isCorrection = isKnown && version == rulesVersion ?? version
    for (day, level) in notified where days[day] ?? .unknown < level || days[day] == nil {
      notified[day] = isKnown ? days[day] : days[day] ?? .unknown
      if isCorrection { correctedDay = max(day, correctedDay ?? day) }
    }
    notifiedDays = notified
    if isKnown { rulesVersion = version }
    if let day = correctedDay, Date(unixDay: day) < oldest { correctedDay = nil }
  }

  /// Forgets days that the user has removed, so that they are not regarded as withdrawn.
  mutating func forget(exceptFor days: [Int: RiskLevel]) {
    guard let notifiedDays else { return }
    let left = notifiedDays.compactMap { day, level in days[day].map { (day, min(level, $0)) } }
    self.notifiedDays = Dictionary(uniqueKeysWithValues: left)
  }

  /// Records that the user has dismissed all notices.
  mutating func dismiss() {
    visible = []
    correctedDay = nil
  }

  /// Returns `true` if the Bluetooth notice may be shown at `now`.
  func isBluetoothNoticeDue(at now: Date) -> Bool {
    guard let lastBluetoothNotice else { return true }
    return abs(now.timeIntervalSince(lastBluetoothNotice)) >= Self.bluetoothNoticeSeconds
  }
}
