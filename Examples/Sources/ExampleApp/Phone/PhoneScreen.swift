// SPDX-License-Identifier: Apache-2.0
import App
import Foundation
import SealedStorage
import Synchronization
import UserNotifications
import World

/// The phone's screen: notifications are printed as lines of text.
final class PhoneScreen: UserNotificationSink {
  private struct Saved: Codable {
    var allowed: UInt?
    /// The identifiers and titles of the visible notifications, including those of earlier runs.
    var notices: [String: String] = [:]
  }

  let isAppInForeground: Bool
  private let clock: SimulatedClock
  private let user: User
  private let saved: Mutex<Saved>
  private let keep: @Sendable (Saved) -> Void

  init(
    clock: SimulatedClock, user: User, storage: SealedValues, isAppInForeground: Bool
  ) {
    self.clock = clock
    self.user = user
    self.isAppInForeground = isAppInForeground
    let stored = storage.data(forKey: "screen")
    saved = Mutex(stored.flatMap { try? JSONDecoder().decode(Saved.self, from: $0) } ?? Saved())
    keep = { saved in
      if let data = try? JSONEncoder().encode(saved) { storage.set(data, forKey: "screen") }
    }
  }

  /// The titles of the visible notifications, by identifier.
  var notices: [String: String] { saved.withLock(\.notices) }

  var now: Date { clock.now }

  var allowedOptions: UNAuthorizationOptions? {
    saved.withLock(\.allowed).map(UNAuthorizationOptions.init(rawValue:))
  }

  func ask(for options: UNAuthorizationOptions) async -> UNAuthorizationOptions {
    let isAllowed = await user.ask("\"Example\" would like to send you notifications. Allow?")
    let allowed = isAllowed ? options : []
    change { $0.allowed = allowed.rawValue }
    return allowed
  }

  func show(_ notice: UserNotice, with options: UNNotificationPresentationOptions) {
    Terminal.print("(notification) \(notice.title). \(notice.body)")
    change { $0.notices[notice.identifier] = notice.title }
  }

  func remove(_ identifiers: [String]) {
    guard !Set(identifiers).isDisjoint(with: notices.keys) else { return }
    change { saved in identifiers.forEach { saved.notices[$0] = nil } }
  }

  /// The app schedules no notifications.
  func pendingNoticesChanged(_ pending: [UserNotice]) {}

  private func change(_ change: (inout Saved) -> Void) {
    let saved = saved.withLock { saved in
      change(&saved)
      return saved
    }
    keep(saved)
  }
}

/// The app's values, each in its own encrypted file.
final class SealedValues: KeyValueStorage {
  private let folder: URL
  private let key: SealingKey

  init(in folder: URL, key: SealingKey) {
    self.folder = folder
    self.key = key
  }

  func data(forKey name: String) -> Data? {
    do {
      return try file(name).read()
    } catch {
      Terminal.warn("reading the app's \(name) failed, starting without it: \(error)")
      _ = try? file(name).setAside()
      return nil
    }
  }

  func set(_ data: Data, forKey name: String) {
    do {
      try file(name).replace(with: data)
    } catch {
      Terminal.warn("writing the app's \(name) failed: \(error)")
    }
  }

  private func file(_ name: String) -> SealedFile {
    SealedFile(
      url: folder.appendingPathComponent(name), key: key, purpose: "app \(name)",
      randomness: SystemRandomness())
  }
}
