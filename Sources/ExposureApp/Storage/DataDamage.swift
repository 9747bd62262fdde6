// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import Logging
import World

/// Stored data that was found damaged and was set aside.
///
/// The app reports damage of its own files. The program that owns the `Device` reports damage of the
/// framework's files through the app's `damage` parameter.
public struct DataDamage: Codable, Hashable, Sendable {
  /// The damaged data.
  public enum Content: String, Codable, Sendable, CaseIterable {
    /// The app's results, history and position.
    case appState
    /// The app's mark that a store exists; nothing else is lost.
    case appMarker
    /// An unfinished upload.
    case upload
    /// The framework's matches of earlier key files.
    case results
    /// The phone's own keys of some days.
    case ownKeys
    /// Received identifiers of some days.
    case contacts
    /// The framework's settings or quotas.
    case settings
    /// The regions in which the owner has been.
    case travel
    /// The notices that were shown.
    case notices
  }

  /// The damaged data.
  public let content: Content
  /// The time at which the damage was found.
  public let found: Date

  /// Creates a report of damage.
  public init(_ content: Content, found: Date) {
    self.content = content
    self.found = found
  }

  /// Damage that a `Device` reports.
  public init(_ damage: StorageDamage) {
    let content: Content =
      switch damage.part {
      case .matches: .results
      case .ownKeys: .ownKeys
      case .contacts: .contacts
      case .consent, .detectionLimits, .retentionClock, .reports: .settings
      }
    self.init(content, found: damage.found)
  }
}

extension DataDamage.Content {
  /// True if analysing the key files of the last fourteen days again restores the data.
  var isRestoredByChecking: Bool { self == .appState || self == .results }
}

/// The damage that the app knows of. The property names are the JSON keys on disk.
struct DamageRecord: Codable, Sendable, Equatable {
  private struct Entry: Codable, Equatable {
    let damage: DataDamage
    var isResolved = false
  }

  /// All damage of the last fourteen days, so that a repeated report is recognized.
  private var entries: [Entry] = []
  /// The time since which lost results are being computed again; `nil` if none are.
  private(set) var recoveringSince: Date?

  /// The damage that is not resolved, oldest first.
  var open: [DataDamage] { entries.filter { !$0.isResolved }.map(\.damage) }

  /// Adds damage. Returns `false` if it was reported before.
  mutating func add(_ damage: DataDamage) -> Bool {
    guard !entries.contains(where: { $0.damage == damage }) else { return false }
    entries.append(Entry(damage: damage))
    if damage.content.isRestoredByChecking { recoveringSince = damage.found }
    return true
  }

  /// Records that lost results have been computed again.
  mutating func finishRecovery() {
    recoveringSince = nil
    resolve { $0.content.isRestoredByChecking }
  }

  /// Records that the user has read about the damage. Lost results stay open until they are restored.
  mutating func acknowledge() { resolve { !$0.content.isRestoredByChecking } }

  /// Removes damage found before `oldest` and ends a recovery that began before it: the affected days have expired.
  mutating func prune(before oldest: Date) {
    entries.removeAll { $0.damage.found < oldest }
    if let since = recoveringSince, since < oldest { finishRecovery() }
  }

  private mutating func resolve(_ predicate: (DataDamage) -> Bool) {
    for index in entries.indices where predicate(entries[index].damage) {
      entries[index].isResolved = true
    }
  }
}
