// SPDX-License-Identifier: Apache-2.0
import Foundation
import SealedStorage
import World

extension Device {
  /// Creates a simulated device, for tests, previews and CI. Pass it to `Device.install(_:)`, or let it meet the
  /// installed one.
  ///
  /// - Parameters:
  ///   - region: The region of the device; nil for a new one with no other device.
  ///   - isEnabled: True if the user has consented and turned exposure notification on, as for a stranger's phone.
  ///   - consent: The user; nil for one who agrees to every request.
  ///   - folder: The folder for the data of the device, which stays: a second device with the same folder continues
  ///     the first one, as after a restart. Nil for a folder that is removed with the region. The encryption of
  ///     simulated devices is not secret.
  ///   - randomness: The source of keys.
  ///   - bundleIdentifier: The app's name, as the consent prompt shows it.
  ///   - apiVersion: 1 or 2, Apple's `ENAPIVersion`.
  ///   - entitlements: The calls that the app may make.
  ///   - variant: The iOS release whose rules apply.
  ///   - travel: The user's travel history; nil if there is none.
  /// - Throws: If a folder cannot be created; `ENError` if a consent cannot be stored.
  public static func simulated(
    in region: SimulatedRegion? = nil, isEnabled: Bool = false,
    consent: (any ConsentPrompt)? = nil, folder: URL? = nil,
    randomness: any Randomness = SystemRandomness(), bundleIdentifier: String = "org.example.app",
    apiVersion: Int = 1, entitlements: Entitlements = .exposureNotification,
    variant: Variant = .latest, travel: (any TravelHistory)? = nil
  ) async throws -> Device {
    let region = try region ?? SimulatedRegion()
    let folder = folder ?? region.newFolder()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let device = Device(
      radio: SimulatedBluetooth(in: region), consent: consent ?? AgreeingUser(),
      clock: region.clock, randomness: randomness, folder: folder,
      sealingKey: SealingKey(from: KnownBytes()), region: region.configuration,
      bundleIdentifier: bundleIdentifier, apiVersion: apiVersion, entitlements: entitlements,
      variant: variant, travel: travel,
      calibration: SimulatedBluetooth.calibration)
    region.add(device)
    if isEnabled {
      try await device.setAuthorizedInSettings(true)
      try await device.setEnabled(true)
    }
    return device
  }
}

/// A user who agrees to every request.
private struct AgreeingUser: ConsentPrompt {
  func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool { true }
}

/// The bytes of the simulated devices' sealing key, so that a folder can be opened again.
private struct KnownBytes: Randomness {
  func bytes(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }
}
