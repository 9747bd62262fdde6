import DiagnosisKeyFile
import Dispatch
import ExposureKeys
import ExposureNotification
import Foundation
import Logging
import SealedStorage
import TestSupport
import Testing
import World

/// A phone in the hand of a test. Each `device()` is the same phone started once more.
struct TestPhone {
  /// 2020-06-15 12:00 UTC.
  static let noon = Date(timeIntervalSince1970: 1_592_222_400)
  static let day: TimeInterval = 86_400

  let folder: URL
  let clock: HandClock
  let radio: TestRadio
  let person = TestPerson()
  let randomness: SeededRandomness
  let sealingKey: SealingKey
  var region = RegionConfiguration(region: "PL", keys: [])
  var apiVersion = 1
  var entitlements = Entitlements.exposureNotification
  var variant = Device.Variant.latest
  var detectionsPerDay: Int?
  var sightingsPerDetection: Int?
  var travel: (any TravelHistory)?
  let log = CollectedLog()

  init(in folder: URL, seed: UInt64 = 1) {
    self.folder = folder
    clock = HandClock(Self.noon)
    radio = TestRadio(clock: clock)
    randomness = SeededRandomness(seed: seed)
    sealingKey = SealingKey(from: randomness)
  }

  func device() -> Device {
    Device(
      radio: radio, consent: person, clock: clock, randomness: randomness, folder: folder,
      sealingKey: sealingKey, region: region, bundleIdentifier: "pl.gov.mc.protegosafe",
      apiVersion: apiVersion, entitlements: entitlements, variant: variant,
      detectionsPerDay: detectionsPerDay, sightingsPerDetection: sightingsPerDetection,
      travel: travel, logger: logger)
  }

  var logger: Logger { log.logger }

  /// A file of this phone by itself.
  func sealedFile(_ name: String) -> SealedFile {
    SealedFile(
      url: folder.appendingPathComponent(name), key: sealingKey, purpose: name,
      randomness: randomness)
  }

  func manager(of device: Device? = nil) -> ENManager {
    let manager = ENManager(device: device ?? self.device())
    manager.dispatchQueue = DispatchQueue(label: "test")
    return manager
  }

  /// A manager that is activated and switched on.
  func enabledManager(of device: Device? = nil) async throws -> ENManager {
    let manager = manager(of: device)
    try await manager.activate()
    try await manager.setExposureNotificationEnabled(true)
    return manager
  }

  /// Lives `days` days of `device`, beat by beat.
  func live(_ device: Device, days: Double) async {
    let end = clock.now.addingTimeInterval(days * Self.day)
    while clock.now < end {
      let next = await device.beat()
      clock.move(to: min(next, end))
    }
    await device.beat()
  }

  /// Hears the owner of `key`, so many seconds from now each time.
  func hear(_ key: TemporaryExposureKey, seconds: [TimeInterval]) async {
    let schedule = KeySchedule(key)
    for time in seconds.map({ clock.now + $0 }) {
      guard let interval = IntervalNumber(time) else { continue }
      let identifier = schedule.identifier(at: interval)
      let metadata = schedule.seal(BluetoothMetadata(transmitPower: 8), beside: identifier)
      await radio.hear([
        Sighting(
          advertisement: Advertisement(identifier: identifier, metadata: metadata), time: time,
          signalStrength: -40)
      ])
    }
  }

  /// A beacon of a stranger, heard now.
  func sighting(_ number: Int = 0, at time: Date? = nil) throws -> Sighting {
    let bytes = withUnsafeBytes(of: UInt64(number).bigEndian, Array.init)
    let identifier = RollingProximityIdentifier(bytes: Array(repeating: 0xa5, count: 8) + bytes)
    let metadata = AssociatedEncryptedMetadata(bytes: [1, 2, 3, 4])
    return Sighting(
      advertisement: Advertisement(
        identifier: try #require(identifier), metadata: try #require(metadata)),
      time: time ?? clock.now, signalStrength: -60)
  }
}
