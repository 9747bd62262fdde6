import Foundation
import Synchronization
import World

/// Hands out the register, and reads it anew when it has become old.
final class RegisterDesk: Sendable {
  private let configured: @Sendable () -> ConfiguredRegister
  private let store: any KeyStore
  private let clock: any WallClock
  private let latest = Mutex<(register: Register, readAt: Date)?>(nil)

  /// Asks `configured` and `store` whenever it reads.
  init(
    configured: @escaping @Sendable () -> ConfiguredRegister, store: any KeyStore,
    clock: any WallClock
  ) {
    self.configured = configured
    self.store = store
    self.clock = clock
  }

  /// The register, at most `KeyServerLimit.registerAgeSecondsMax` old.
  func register() async throws -> Register {
    try await register(atMost: KeyServerLimit.registerAgeSecondsMax)
  }

  /// The register, read anew for somebody who names a key that is not in it, unless that was just done.
  func registerForUnknownKey() async throws -> Register {
    try await register(atMost: KeyServerLimit.registerAgeSecondsMaxForUnknownKey)
  }

  private func register(atMost ageSeconds: TimeInterval) async throws -> Register {
    let now = clock.now
    let kept = latest.withLock { $0 }
    if let kept, kept.readAt <= now, now.timeIntervalSince(kept.readAt) < ageSeconds {
      return kept.register
    }
    let register = Register(configured: configured(), stored: try await store.registerEntries())
    latest.withLock { $0 = (register, now) }
    return register
  }

  /// Forgets what was read, for it has changed.
  func forget() {
    latest.withLock { $0 = nil }
  }
}
