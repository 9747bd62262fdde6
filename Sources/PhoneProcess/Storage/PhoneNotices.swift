import ExposureApp
import Foundation
import Logging
import SealedStorage
import World

/// The notices of a phone without a screen of its own: on the desktop if there is one, otherwise in the log and in
/// `status`.
///
/// Shown notices are stored, so that `status` has them after a restart.
package actor PhoneNotices: NoticeSink {
  /// A notice that is shown.
  package struct Shown: Codable, Hashable, Sendable {
    package let identifier: String
    package let title: String
    package let body: String
    package let time: Date
    /// The number of the desktop's notification; `nil` if there is no desktop.
    var desktopNumber: UInt32?
  }

  private let file: PhoneFile<[Shown]>
  private let desktop: DesktopNotifications?
  private let clock: any WallClock
  private let logger: Logger

  /// The notices in `folder`; `desktop` is `nil` if there is no session bus.
  package init(
    in folder: PhoneFolder, key: SealingKey, desktop: DesktopNotifications?,
    clock: any WallClock, randomness: any Randomness, logger: Logger
  ) {
    file = PhoneFile(
      at: folder.notices, key: key, purpose: "notices", clock: clock, randomness: randomness,
      logger: logger)
    self.desktop = desktop
    self.clock = clock
    self.logger = logger
  }

  /// The shown notices, oldest first.
  package var shown: [Shown] { (try? file.read()) ?? [] }

  /// The time at which damaged notices were found and set aside; `nil` if none were in fourteen days.
  package var damageFound: Date? { file.damageFound() }

  package func show(_ notice: Notice) async {
    let identifier = notice.identifier.rawValue
    let old = shown.first { $0.identifier == identifier }
    var entry = Shown(
      identifier: identifier, title: notice.title, body: notice.body, time: clock.now,
      desktopNumber: old?.desktopNumber)
    // Stored first: after a crash in between, the app shows it again.
    store(entry)
    entry.desktopNumber = await showOnDesktop(entry, isUrgent: notice.identifier == .risk)
    if entry.desktopNumber == nil {
      // Without the level of risk: the log is not encrypted.
      logger.notice("there is a notice for you: firebreak phone status shows it")
    } else {
      store(entry)
    }
  }

  package func remove(_ identifier: Notice.Identifier) async {
    let shown = shown
    guard let old = shown.first(where: { $0.identifier == identifier.rawValue }) else { return }
    replace(shown.filter { $0 != old })
    if let number = old.desktopNumber, let desktop { try? await desktop.close(number) }
  }

  /// Removes all notices.
  package func removeAll() async throws {
    for notice in shown {
      if let number = notice.desktopNumber, let desktop { try? await desktop.close(number) }
    }
    try file.remove()
  }

  private func showOnDesktop(_ notice: Shown, isUrgent: Bool) async -> UInt32? {
    guard let desktop else { return nil }
    do {
      return try await desktop.show(
        title: notice.title, body: notice.body, isUrgent: isUrgent,
        replacing: notice.desktopNumber ?? 0)
    } catch {
      logger.info("the desktop did not show a notice", metadata: ["error": "\(error)"])
      return nil
    }
  }

  private func store(_ notice: Shown) {
    replace(shown.filter { $0.identifier != notice.identifier } + [notice])
  }

  private func replace(_ notices: [Shown]) {
    do {
      try file.replace(with: notices)
    } catch {
      logger.warning("storing a notice failed", metadata: ["error": "\(error)"])
    }
  }
}
