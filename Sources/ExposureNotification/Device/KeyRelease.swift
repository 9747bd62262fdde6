// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import SealedStorage
import World

// Handing out the user's own keys.
extension Device {
  /// The keys for an upload, after asking the user.
  func releaseKeys() async throws -> [TemporaryExposureKey] {
    try requireEnabled()
    try reportLostKeys()
    guard try await consentStore.allows(.shareDiagnosisKeys) else { throw ENError(.notAuthorized) }
    return try await release(includingToday: apiVersion == 2)
  }

  /// The times of the keys that an upload would share now, without asking the user and without the keys.
  package func releasableKeys() async throws -> [KeyPeriod] {
    try await beacons.releasable(at: clock.now, includingToday: apiVersion == 2)
  }

  /// The keys with today's in both API versions, for testing an app, after asking the user.
  func releaseTestKeys() async throws -> [TemporaryExposureKey] {
    guard entitlements.contains(.test) else { throw ENError(.notEntitled) }
    try requireEnabled()
    try reportLostKeys()
    guard try await consentStore.allows(.shareDiagnosisKeys) else { throw ENError(.notAuthorized) }
    return try await release(includingToday: true)
  }

  /// Asks for consent to release the keys once within five days. The last decision counts.
  func preAuthorizeKeys() async throws {
    try requireLatest()
    try requireEnabled()
    let isAllowed = try await consentStore.allows(.preAuthorizeDiagnosisKeys)
    let now = clock.now
    try await mutex.withLock {
      try self.requireEnabled()
      try await self.consentStore.update {
        $0.preAuthorization = isAllowed ? PreAuthorization(given: now) : nil
      }
    }
    guard isAllowed else { throw ENError(.notAuthorized) }
  }

  /// The keys that the user allowed to release in advance; none if they were released before.
  func releasePreAuthorizedKeys() async throws -> [TemporaryExposureKey] {
    try requireLatest()
    try requireEnabled()
    try reportLostKeys()
    let keys = try await mutex.withLock { try await self.releaseOnce() }
    if !keys.isEmpty { await consentStore.tell(.preAuthorizedKeysReleased) }
    return keys
  }

  /// Called while `mutex` is held, so that two concurrent requests release the keys once.
  private func releaseOnce() async throws -> [TemporaryExposureKey] {
    try requireEnabled()
    let now = clock.now
    guard let preAuthorization = state.consent.preAuthorization, preAuthorization.isValid(at: now)
    else { throw ENError(.notAuthorized) }
    guard !preAuthorization.isUsed else { return [] }
    let keys = try await beacons.release(at: now, includingToday: apiVersion == 2)
    // Without a key to release the consent stays unused.
    if !keys.isEmpty {
      try await consentStore.update { $0.preAuthorization?.isUsed = true }
    }
    _ = await runDueWork()
    return keys
  }

  private func release(includingToday: Bool) async throws -> [TemporaryExposureKey] {
    try await mutex.withLock {
      try self.requireEnabled()
      let keys = try await self.beacons.release(
        at: self.clock.now, includingToday: includingToday)
      _ = await self.runDueWork()
      return keys
    }
  }

  /// Fails once after own keys were lost, so that an upload of the rest is the user's decision and does not
  /// look like one of all days.
  private func reportLostKeys() throws(ENError) {
    let lost = reports.all.filter { $0.part == .ownKeys && !$0.isAcknowledged }
    guard !lost.isEmpty else { return }
    do throws(SealedStorageError) {
      try reports.acknowledge(.ownKeys)
    } catch {
      throw ENError(error)
    }
    throw ENError(
      .dataInaccessible,
      explanation: """
        The keys of \(lost.count) days were damaged and cannot be shared; call again to share the keys \
        of the other days.
        """)
  }

  /// Throws `.unsupported` under the rules of releases before iOS 14.
  func requireLatest() throws(ENError) {
    guard variant == .latest else { throw ENError(.unsupported) }
  }
}
