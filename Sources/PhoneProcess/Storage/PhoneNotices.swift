// SPDX-License-Identifier: Apache-2.0
import DesktopNotifications
import ExposureApp
import Foundation
import Logging
import SealedStorage
import World

/// The notices of a phone without a screen of its own: on the desktop if there is one, otherwise in the log and in
/// `status`.
///
/// Shown notices and those of the last fourteen days are stored with their reasons; their texts are in the current
/// language.
package actor PhoneNotices: NoticeSink {
  /// A stored notice. The property names are the JSON keys on disk.
  private struct Entry: Codable, Hashable {
    var id: UUID
    let cause: Notice.Cause
    let time: Date
    /// The days that a risk notice is about; `nil` in the file of an earlier version.
    var days: Set<Int>?
    /// The number of the desktop's notification; `nil` if there is no desktop.
    var desktopNumber: UInt32?
  }

  private struct StoredNotices: Codable {
    var shown: [Entry] = []
    var history: [Entry] = []
  }

  private let file: PhoneFile<StoredNotices>
  private let desktop: DesktopNotifications?
  private let preferences: PhonePreferences
  private let catalogues: Catalogues
  private let clock: any WallClock
  private let retention: PhoneRetention
  private let logger: Logger

  /// The notices in `folder`; `desktop` is `nil` if there is no session bus.
  package init(
    in folder: PhoneFolder, key: SealingKey, desktop: DesktopNotifications?,
    preferences: PhonePreferences, catalogues: Catalogues = .installed, clock: any WallClock,
    retention: PhoneRetention, randomness: any Randomness, logger: Logger
  ) {
    file = PhoneFile(
      at: folder.notices, key: key, purpose: "notices", clock: clock, retention: retention,
      randomness: randomness, logger: logger)
    self.desktop = desktop
    self.preferences = preferences
    self.catalogues = catalogues
    self.clock = clock
    self.retention = retention
    self.logger = logger
  }

  /// The shown notices, oldest first.
  package var shown: [PhoneNotice] { content.shown.map(row) }

  /// The notices of the last fourteen days, oldest first.
  package var history: [PhoneNotice] { recent(content.history).map(row) }

  /// The time at which damaged notices were found and set aside; `nil` if none were in fourteen days.
  package var damageFound: Date? { file.damageFound() }

  package func show(_ notice: Notice) async {
    var content = content
    let old = content.shown.first { $0.cause.identifier == notice.identifier }
    var entry = Entry(
      id: UUID(), cause: notice.cause, time: clock.now, days: notice.days,
      desktopNumber: old?.desktopNumber)
    if let old, old.cause == notice.cause, old.days ?? [] == notice.days {
      // The same notice again, after a crash or a day.
      entry.id = old.id
      content.history.removeAll { $0.id == old.id }
    }
    content.history.append(entry)
    content.shown.removeAll { $0.cause.identifier == notice.identifier }
    content.shown.append(entry)
    // Stored first: after a crash in between, the app shows it again.
    store(content)
    guard preferences.values.notifications else { return }
    let number = await showOnDesktop(entry)
    if number == nil {
      // Without the level of risk: the log is not encrypted.
      logger.notice("new notice: run `firebreak phone status` to read it")
    } else {
      note(number, of: entry.id)
    }
  }

  package func remove(_ identifier: Notice.Identifier) async {
    var content = content
    guard let old = content.shown.first(where: { $0.cause.identifier == identifier }) else {
      return
    }
    content.shown.removeAll { $0.id == old.id }
    store(content)
    await closeOnDesktop(old)
  }

  /// Removes notices from the history; those that are shown stay shown.
  ///
  /// - Throws: `SealedStorageError` if the change cannot be stored.
  package func removeFromHistory(ids: Set<UUID>) throws {
    var content = content
    content.history.removeAll { ids.contains($0.id) }
    try file.replace(with: content)
  }

  /// Removes the notices of more than fourteen days ago from the history.
  func removeOld() {
    let content = content
    if recent(content.history).count < content.history.count { store(content) }
  }

  /// Removes all notices.
  package func removeAll() async throws {
    for notice in content.shown {
      await closeOnDesktop(notice)
    }
    try file.remove()
  }

  private func closeOnDesktop(_ notice: Entry) async {
    guard let number = notice.desktopNumber, let desktop else { return }
    // The desktop may have closed the notice, or have no notification service any more.
    try? await desktop.close(number)
  }

  private func showOnDesktop(_ notice: Entry) async -> UInt32? {
    guard let desktop else { return nil }
    let row = row(notice)
    do {
      return try await desktop.show(
        title: row.title, body: row.body, isUrgent: notice.cause.identifier == .risk,
        replacing: notice.desktopNumber ?? 0)
    } catch {
      logger.info("the desktop did not show a notice", metadata: ["error": "\(error)"])
      return nil
    }
  }

  /// Stores the number that the desktop has given to a notice; it may have been removed in the meantime.
  private func note(_ number: UInt32?, of id: UUID) {
    var content = content
    guard let index = content.shown.firstIndex(where: { $0.id == id }) else { return }
    content.shown[index].desktopNumber = number
    store(content)
  }

  private func row(_ entry: Entry) -> PhoneNotice {
    let words = catalogues.words(for: entry.cause, in: preferences.values.language)
    let kind = entry.cause.identifier.rawValue
    return PhoneNotice(
      id: entry.id.uuidString, kind: kind, identifier: kind, title: words?.title ?? kind,
      body: words?.body ?? "", time: entry.time)
  }

  private var content: StoredNotices {
    // If the disk cannot be read, no notice is known to be shown, and storing the next one fails.
    (try? file.read()) ?? StoredNotices()
  }

  private func recent(_ entries: [Entry]) -> [Entry] {
    retention.kept(entries, by: \.time, at: clock.now).suffix(PhoneNoticeLimit.historyMax)
  }

  private func store(_ content: StoredNotices) {
    var content = content
    content.history = recent(content.history)
    do {
      try file.replace(with: content)
    } catch {
      logger.warning("storing a notice failed", metadata: ["error": "\(error)"])
    }
  }
}

/// Limits of the history of notices.
package enum PhoneNoticeLimit {
  /// The number of notices in the history.
  package static let historyMax = 200
}
