import ExposureKeys
import Foundation
import SealedStorage
import World

// What the person does: in the app through `ENManager`, in the system's settings directly.
extension Device {
  /// Switches exposure notification on, after asking where nobody asked before, or off.
  ///
  /// - Throws: `.bluetoothOff` where it is on now and the radio is off (Documentation/Framework.md 8.2);
  ///   otherwise what stood in the way, and nothing has changed.
  func setEnabled(_ enabled: Bool) async throws {
    if enabled { try await permissions.authorize() }
    try await turns.take {
      // The settings may have taken it back while this waited for its turn.
      if enabled { try self.requireYes() }
      try await self.permissions.change { $0.isEnabled = enabled }
      _ = await self.doWhatIsDue()
      guard self.status != .bluetoothOff else {
        throw ENError(.bluetoothOff, explanation: Self.onWithoutBluetooth)
      }
    }
  }

  private static let onWithoutBluetooth = """
    Exposure notification is on, but Bluetooth is off, so nobody is noticed; switch Bluetooth on.
    """

  /// The switch in the system's settings: allows exposure notification to the app or takes it back.
  /// Taken back, it is also switched off; keys and contacts stay.
  ///
  /// - Throws: `ENError` where the change could not be kept.
  public func setAuthorizedInSettings(_ isAuthorized: Bool) async throws {
    try await turns.take {
      try await self.permissions.change { permission in
        permission.authorization = isAuthorized ? .authorized : .notAuthorized
        permission.isEnabled = permission.isEnabled && isAuthorized
        if !isAuthorized { permission.preAuthorization = nil }
      }
      _ = await self.doWhatIsDue()
    }
  }

  /// Forbids exposure notification on this phone, whatever the person says, or lifts that; then the
  /// person is asked anew. What parents and employers can do.
  ///
  /// - Throws: `ENError` where the change could not be kept.
  public func setRestrictedInSettings(_ isRestricted: Bool) async throws {
    try await turns.take {
      try await self.permissions.change { permission in
        guard isRestricted != (permission.authorization == .restricted) else { return }
        permission = Permission(authorization: isRestricted ? .restricted : .unknown)
      }
      _ = await self.doWhatIsDue()
    }
  }

  /// "Delete exposure log" of the system's settings: removes own keys, contacts and the results of
  /// detections, and takes back a word given ahead of time. What else the person has allowed stays,
  /// and so does the count of detections. A phone that is switched on goes on with a new key.
  ///
  /// - Throws: `ENError` where the disk refuses; then call it again.
  public func removeAllData() async throws {
    try await turns.take {
      do {
        try await self.beacons.removeAll()
        try await self.contacts.removeAll()
        try await self.detections.removeAll()
        try self.removeDamagedFiles()
      } catch let error as SealedStorageError {
        throw ENError(error)
      }
      try await self.permissions.change { $0.preAuthorization = nil }
      _ = await self.doWhatIsDue()
    }
  }

  /// Not allowed comes before not switched on.
  func requireEnabled() throws(ENError) {
    try requireNoRefusal()
    guard isEnabled else { throw ENError(.notEnabled) }
  }

  private func requireYes() throws(ENError) {
    try requireNoRefusal()
    guard standing.permission.authorization == .authorized else { throw ENError(.notAuthorized) }
  }

  private func requireNoRefusal() throws(ENError) {
    switch standing.permission.authorization {
    case .restricted: throw ENError(.restricted)
    case .notAuthorized: throw ENError(.notAuthorized)
    case .unknown, .authorized: break
    }
  }

  /// Files that were set aside because they did not open hold what they held.
  private func removeDamagedFiles() throws {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names where name.hasSuffix(".damaged") {
      try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
  }
}
