// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import SealedStorage
import World

// The user's switches: in the app through `ENManager`, in the system's settings directly.
extension Device {
  /// Turns exposure notification on or off. The first time it is turned on, the user is asked.
  ///
  /// - Throws: `.bluetoothOff` if it is on now and the radio is off; after any other error nothing has
  ///   changed.
  func setEnabled(_ enabled: Bool) async throws {
    if enabled { try await consentStore.authorize() }
    try await mutex.withLock {
      // The settings may have revoked the consent while this call waited for the lock.
      if enabled { try self.requireAuthorization() }
      try await self.consentStore.update { $0.isEnabled = enabled }
      _ = await self.runDueWork()
      guard self.status != .bluetoothOff else {
        throw ENError(.bluetoothOff, explanation: Self.onWithoutBluetooth)
      }
    }
  }

  private static let onWithoutBluetooth = """
    Exposure notification is on, but Bluetooth is off, so no phone is detected; switch Bluetooth on.
    """

  /// The app's switch in the system's settings: allows exposure notification or revokes the consent.
  /// Revoking also turns it off; keys and contacts stay.
  ///
  /// - Throws: `ENError` if the change could not be stored.
  public func setAuthorizedInSettings(_ isAuthorized: Bool) async throws {
    try await mutex.withLock {
      try await self.consentStore.update { consent in
        consent.authorization = isAuthorized ? .authorized : .notAuthorized
        consent.isEnabled = consent.isEnabled && isAuthorized
        if !isAuthorized { consent.preAuthorization = nil }
      }
      _ = await self.runDueWork()
    }
  }

  /// Forgets the user's decision: exposure notification is off, and the user is asked again. A restriction stays.
  ///
  /// - Throws: `ENError` if the change could not be stored.
  package func forgetAuthorization() async throws {
    try await mutex.withLock {
      try await self.consentStore.update { consent in
        guard consent.authorization != .restricted else { return }
        consent = Consent(authorization: .unknown)
      }
      _ = await self.runDueWork()
    }
  }

  /// The restriction by parents or employers: forbids exposure notification on this device, or lifts
  /// the restriction; then the user is asked again.
  ///
  /// - Throws: `ENError` if the change could not be stored.
  public func setRestrictedInSettings(_ isRestricted: Bool) async throws {
    try await mutex.withLock {
      try await self.consentStore.update { consent in
        guard isRestricted != (consent.authorization == .restricted) else { return }
        consent = Consent(authorization: isRestricted ? .restricted : .unknown)
      }
      _ = await self.runDueWork()
    }
  }

  /// "Delete exposure log" of the system's settings: removes own keys, contacts and the results of
  /// detections, and revokes consent given in advance. Other consent and the quotas of detections
  /// stay. A device that is turned on goes on with a new key.
  ///
  /// - Throws: `ENError` if the disk fails; call it again then.
  public func removeAllData() async throws {
    try await mutex.withLock {
      do {
        try await self.beacons.removeAll()
        try await self.contacts.removeAll()
        try await self.detectionStore.removeAll()
        try self.removeDamagedFiles()
        try self.reports.removeAll()
      } catch let error as SealedStorageError {
        throw ENError(error)
      }
      try await self.consentStore.update { $0.preAuthorization = nil }
      _ = await self.runDueWork()
    }
  }

  /// An unreadable consent is reported before missing authorization, and that before a device that is
  /// turned off.
  func requireEnabled() throws(ENError) {
    try requireNoRefusal()
    guard isEnabled else { throw ENError(.notEnabled) }
  }

  private func requireAuthorization() throws(ENError) {
    try requireNoRefusal()
    guard state.consent.authorization == .authorized else { throw ENError(.notAuthorized) }
  }

  private func requireNoRefusal() throws(ENError) {
    if let failure = state.failure { throw ENError(failure) }
    switch state.consent.authorization {
    case .restricted: throw ENError(.restricted)
    case .notAuthorized: throw ENError(.notAuthorized)
    case .unknown, .authorized: break
    }
  }

  /// Files that were set aside because they could not be decrypted still contain user data.
  private func removeDamagedFiles() throws {
    guard FileManager.default.fileExists(atPath: folder.path) else { return }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    for name in names where name.hasSuffix(".damaged") {
      try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
  }
}
