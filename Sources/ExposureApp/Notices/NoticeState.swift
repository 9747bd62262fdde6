// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The notices that are shown, and the encounters of which the user was told. Days are numbers of days since
/// 1970. The property names are the JSON keys on disk.
struct NoticeState: Codable, Sendable, Equatable {
  /// The days of which the user was told, with their levels; `unknown` for a day whose results are computed again.
  /// `nil` in the state of a version that told only levels: then the user was told of all stored days.
  private(set) var told: [Int: RiskLevel]? = [:]
  /// The days that the last risk notice is about; `nil` for all.
  private(set) var shownDays: Set<Int>?
  /// The last day with an encounter that was withdrawn after the user was told of it.
  private(set) var correctedDay: Int?
  /// The expiry of the unfinished upload whose end the user was told.
  var toldUpload: Date?
  /// The time at which the notice about an upload ends.
  var uploadNoticeEnd: Date?
  /// The time of the last Bluetooth notice.
  var lastBluetoothNotice: Date?
  /// The kinds of the notices that are shown.
  var visible: Set<Notice.Identifier> = []

  /// The shortest interval between two Bluetooth notices, in seconds.
  static let bluetoothNoticeSeconds: TimeInterval = 86_400

  /// Returns those of `days` of which the user was not told, or only of a lower level.
  func due(_ days: [Int: RiskLevel]) -> [Int: RiskLevel] {
    guard let told else { return [:] }
    return days.filter { $0.value > told[$0.key] ?? .none }
  }

  /// Records that the user was told of `days`.
  mutating func markShown(_ days: [Int: RiskLevel]) {
    told = (told ?? [:]).merging(days) { $1 }
    shownDays = Set(days.keys)
    correctedDay = nil
    visible.insert(.risk)
  }

  /// Returns `true` if the last risk notice is still true: one of its days has the level that the user was told.
  func isTrue(of days: [Int: RiskLevel]) -> Bool {
    days.contains { day, level in
      shownDays?.contains(day) != false && level >= told?[day] ?? .none
    }
  }

  /// Follows the current `days`: forgets those before `oldest`, and notes those that have changed for the better.
  ///
  /// - Parameter isKnown: False while lost or undone results are computed again; a missing day may return then.
  mutating func follow(_ days: [Int: RiskLevel], isKnown: Bool, after oldest: Date) {
    var told = (told ?? days).filter { Date(unixDay: $0.key) >= oldest }
    for (day, level) in told where days[day] ?? .unknown < level || days[day] == nil {
      told[day] = isKnown ? days[day] : days[day] ?? .unknown
      if isKnown { correctedDay = max(day, correctedDay ?? day) }
    }
    self.told = told
    if let day = correctedDay, Date(unixDay: day) < oldest { correctedDay = nil }
  }

  /// Forgets days that the user has removed, so that they are not regarded as withdrawn.
  mutating func forget(exceptFor days: [Int: RiskLevel]) {
    guard let told else { return }
    let left = told.compactMap { day, level in days[day].map { (day, min(level, $0)) } }
    self.told = Dictionary(uniqueKeysWithValues: left)
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
