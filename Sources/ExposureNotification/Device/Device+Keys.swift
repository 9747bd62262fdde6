import ExposureKeys
import Foundation
import World

// Handing out the person's own keys. Documentation/Framework.md 3.4 and 5.
extension Device {
  /// The person's keys for an upload, if the person agrees.
  func releaseKeys() async throws -> [TemporaryExposureKey] {
    try requireEnabled()
    guard try await permissions.allows(.shareDiagnosisKeys) else { throw ENError(.notAuthorized) }
    return try await handOut(includingToday: apiVersion == 2)
  }

  /// The person's keys with today's, if the person agrees, for an app that is being tried out.
  func releaseTestKeys() async throws -> [TemporaryExposureKey] {
    guard entitlements.contains(.test) else { throw ENError(.notEntitled) }
    try requireEnabled()
    guard try await permissions.allows(.shareDiagnosisKeys) else { throw ENError(.notAuthorized) }
    return try await handOut(includingToday: true)
  }

  /// Asks whether the keys may be released once within five days. The last answer counts.
  func preAuthorizeKeys() async throws {
    try requireLatest()
    try requireEnabled()
    let isAllowed = try await permissions.allows(.preAuthorizeDiagnosisKeys)
    let now = clock.now
    try await turns.take {
      try self.requireEnabled()
      try await self.permissions.change {
        $0.preAuthorization = isAllowed ? PreAuthorization(given: now) : nil
      }
    }
    guard isAllowed else { throw ENError(.notAuthorized) }
  }

  /// The keys that the person agreed to release; none where that was done before.
  func releasePreAuthorizedKeys() async throws -> [TemporaryExposureKey] {
    try requireLatest()
    try requireEnabled()
    let keys = try await turns.take { try await self.releaseAsPromised() }
    if !keys.isEmpty { await permissions.tell(.preAuthorizedKeysReleased) }
    return keys
  }

  /// In its turn, so that two requests at once release once.
  private func releaseAsPromised() async throws -> [TemporaryExposureKey] {
    try requireEnabled()
    let now = clock.now
    guard let word = standing.permission.preAuthorization, word.isValid(at: now) else {
      throw ENError(.notAuthorized)
    }
    guard !word.isUsed else { return [] }
    let keys = try await beacons.release(at: now, includingToday: apiVersion == 2)
    // A phone without a key to release keeps the word for later.
    if !keys.isEmpty {
      try await permissions.change { $0.preAuthorization?.isUsed = true }
    }
    _ = await doWhatIsDue()
    return keys
  }

  private func handOut(includingToday: Bool) async throws -> [TemporaryExposureKey] {
    try await turns.take {
      try self.requireEnabled()
      let keys = try await self.beacons.release(
        at: self.clock.now, includingToday: includingToday)
      _ = await self.doWhatIsDue()
      return keys
    }
  }

  /// Earlier releases do not know the call.
  func requireLatest() throws(ENError) {
    guard variant == .latest else { throw ENError(.unsupported) }
  }
}
