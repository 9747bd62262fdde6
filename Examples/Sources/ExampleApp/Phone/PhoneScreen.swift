import App
import Foundation
import Synchronization
import UserNotifications
import World

/// The phone's screen: a notification is a line of text.
final class PhoneScreen: UserNotificationSink {
  private struct Kept: Codable {
    var allowed: UInt?
    /// Identifier and title of what is on the screen, also of earlier runs.
    var notices: [String: String] = [:]
  }

  let isAppInForeground: Bool
  private let clock: JumpingClock
  private let person: Person
  private let kept: Mutex<Kept>
  private let keep: @Sendable (Kept) -> Void

  init(
    clock: JumpingClock, person: Person, storage: SealedValues, isAppInForeground: Bool
  ) {
    self.clock = clock
    self.person = person
    self.isAppInForeground = isAppInForeground
    let stored = storage.data(forKey: "screen")
    kept = Mutex(stored.flatMap { try? JSONDecoder().decode(Kept.self, from: $0) } ?? Kept())
    keep = { kept in
      if let data = try? JSONEncoder().encode(kept) { storage.set(data, forKey: "screen") }
    }
  }

  /// What the person sees, by identifier.
  var notices: [String: String] { kept.withLock(\.notices) }

  var now: Date { clock.now }

  var allowedOptions: UNAuthorizationOptions? {
    kept.withLock(\.allowed).map(UNAuthorizationOptions.init(rawValue:))
  }

  func ask(for options: UNAuthorizationOptions) async -> UNAuthorizationOptions {
    let isAllowed = await person.says("\"Example\" would like to send you notifications. Allow?")
    let allowed = isAllowed ? options : []
    change { $0.allowed = allowed.rawValue }
    return allowed
  }

  func show(_ notice: UserNotice, with options: UNNotificationPresentationOptions) {
    Terminal.say("(notification) \(notice.title). \(notice.body)")
    change { $0.notices[notice.identifier] = notice.title }
  }

  func remove(_ identifiers: [String]) {
    guard !Set(identifiers).isDisjoint(with: notices.keys) else { return }
    change { kept in identifiers.forEach { kept.notices[$0] = nil } }
  }

  /// This phone has no clock work for notifications: the app sets no trigger.
  func pendingNoticesChanged(_ pending: [UserNotice]) {}

  private func change(_ change: (inout Kept) -> Void) {
    let kept = kept.withLock { kept in
      change(&kept)
      return kept
    }
    keep(kept)
  }
}
