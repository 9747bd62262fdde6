import Foundation
import Synchronization
import World

/// Hands out the register, and reads it anew when it has become old.
final class RegisterDesk: Sendable {
  private let configured: RegisterEntries
  private let store: any KeyStore
  private let clock: any WallClock
  private let latest = Mutex<(register: Register, readAt: Date)?>(nil)

  init(configured: RegisterEntries, store: any KeyStore, clock: any WallClock) {
    self.configured = configured
    self.store = store
    self.clock = clock
  }

  /// The register, at most `KeyServerLimit.registerAgeSecondsMax` old.
  func register() async throws -> Register {
    let now = clock.now
    let kept = latest.withLock { $0 }
    if let kept, kept.readAt <= now,
      now.timeIntervalSince(kept.readAt) < KeyServerLimit.registerAgeSecondsMax
    {
      return kept.register
    }
    let register = Register(configured: configured, stored: try await store.registerEntries())
    latest.withLock { $0 = (register, now) }
    return register
  }

  /// Forgets what was read, for it has changed.
  func forget() {
    latest.withLock { $0 = nil }
  }
}
