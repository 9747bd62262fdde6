// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import Dispatch
import ExposureKeys
import Foundation
import Logging
import SealedStorage
import Synchronization
import TestSupport
import Testing
import World

@testable import ExposureNotification

/// A phone with test doubles. Each `device()` is a restart of the same phone.
struct TestPhone {
  /// 2020-06-15 12:00 UTC.
  static let noon = Date(timeIntervalSince1970: 1_592_222_400)
  static let day: TimeInterval = 86_400

  let folder: URL
  let clock: ManualClock
  let radio: TestRadio
  let user = TestUser()
  let randomness: TestRandomness
  let sealingKey: SealingKey
  var region = RegionConfiguration(region: "PL", keys: [])
  var apiVersion = 1
  var entitlements = Entitlements.exposureNotification
  var variant = Device.Variant.latest
  var detectionsPerDay: Int?
  var sightingsPerDetection: Int?
  var travel: (any TravelHistory)?
  var calibration = Calibration(transmitPower: 8)
  let log = CollectedLog()

  init(in folder: URL, seed: UInt64 = 1) {
    self.folder = folder
    clock = ManualClock(Self.noon)
    radio = TestRadio(clock: clock)
    randomness = TestRandomness(seed: seed)
    sealingKey = SealingKey(from: randomness)
  }

  func device() -> Device {
    Device(
      radio: radio, consent: user, clock: clock, randomness: randomness, folder: folder,
      sealingKey: sealingKey, region: region, bundleIdentifier: "pl.gov.mc.protegosafe",
      apiVersion: apiVersion, entitlements: entitlements, variant: variant,
      detectionsPerDay: detectionsPerDay, sightingsPerDetection: sightingsPerDetection,
      travel: travel, calibration: calibration, logger: logger)
  }

  var logger: Logger { log.logger }

  /// A sealed file of this phone.
  func sealedFile(_ name: String) -> SealedFile {
    SealedFile(
      url: folder.appendingPathComponent(name), key: sealingKey, purpose: name,
      randomness: randomness)
  }

  /// Inverts one bit in the middle of a file of this phone.
  func invertBit(in name: String) throws {
    let url = folder.appendingPathComponent(name)
    var bytes = try Data(contentsOf: url)
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: url)
  }

  func manager(of device: Device? = nil) -> ENManager {
    let manager = ENManager(device: device ?? self.device())
    manager.dispatchQueue = DispatchQueue(label: "test")
    return manager
  }

  /// A manager that is activated and turned on.
  func enabledManager(of device: Device? = nil) async throws -> ENManager {
    let manager = manager(of: device)
    try await manager.activate()
    try await manager.setExposureNotificationEnabled(true)
    return manager
  }

  /// Runs `device` for `days` days by moving the clock from beat to beat.
  func run(_ device: Device, days: Double) async {
    let end = clock.now.addingTimeInterval(days * Self.day)
    while clock.now < end {
      let next = await device.beat()
      clock.set(to: min(next, end))
    }
    await device.beat()
  }

  /// Receives beacons of `key`, each of `seconds` from now.
  func receive(_ key: TemporaryExposureKey, seconds: [TimeInterval]) async {
    let schedule = KeySchedule(key)
    for time in seconds.map({ clock.now + $0 }) {
      guard let interval = IntervalNumber(time) else { continue }
      let identifier = schedule.identifier(at: interval)
      let metadata = schedule.seal(BluetoothMetadata(transmitPower: 8), beside: identifier)
      await radio.receive([
        Sighting(
          advertisement: Advertisement(identifier: identifier, metadata: metadata), time: time,
          signalStrength: -40)
      ])
    }
  }

  /// A sighting of an unknown phone, now unless `time` is given.
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

/// A radio that records advertisements and receives the sightings that a test passes in.
final class TestRadio: Radio {
  typealias Receiver = @Sendable (Scan) async -> Void

  struct Sent: Sendable {
    let advertisement: Advertisement
    let time: Date
  }

  private struct State {
    var isPoweredOn = true
    var sent: [Sent] = []
    var isAdvertising = false
    var receiver: Receiver?
  }

  private let clock: any WallClock
  private let state = Mutex(State())

  init(clock: any WallClock) {
    self.clock = clock
  }

  var isPoweredOn: Bool { state.withLock { $0.isPoweredOn } }
  var sent: [Sent] { state.withLock { $0.sent } }
  var isAdvertising: Bool { state.withLock { $0.isAdvertising } }
  var isListening: Bool { receiver != nil }

  private var receiver: Receiver? { state.withLock { $0.receiver } }

  func setPoweredOn(_ isPoweredOn: Bool) {
    state.withLock { $0.isPoweredOn = isPoweredOn }
  }

  /// Passes in the sightings of one scan, which begins with the first of them, or now.
  func receive(_ sightings: [Sighting]) async {
    await receive(Scan(time: sightings.map(\.time).min() ?? clock.now, sightings: sightings))
  }

  func receive(_ scan: Scan) async {
    await receiver?(scan)
  }

  func advertise(_ advertisement: Advertisement) async {
    let sent = Sent(advertisement: advertisement, time: clock.now)
    state.withLock {
      $0.sent.append(sent)
      $0.isAdvertising = true
    }
  }

  func stopAdvertising() async {
    state.withLock { $0.isAdvertising = false }
  }

  func listen(_ receive: @escaping Receiver) async {
    state.withLock { $0.receiver = receive }
  }

  func stopListening() async {
    state.withLock { $0.receiver = nil }
  }
}

extension Contacts {
  /// The stored sightings.
  func sightings(
    atMost limit: Int = DeviceLimit.sightingsPerDetection
  ) async throws -> [Sighting] {
    try await received(atMost: limit).sightings
  }
}

/// A user who makes the decision that a test sets and records all requests and notices.
final class TestUser: ConsentPrompt {
  /// The error of a prompt that cannot be shown.
  struct NoScreen: Error {}

  private struct State {
    var decision: Bool
    var requests: [ConsentRequest] = []
    var notices: [ConsentNotice] = []
    var hasScreen = true
  }

  private let state: Mutex<State>

  init(decision: Bool = true) {
    state = Mutex(State(decision: decision))
  }

  var requests: [ConsentRequest] { state.withLock { $0.requests } }

  var notices: [ConsentNotice] { state.withLock { $0.notices } }

  func decides(_ decision: Bool) {
    state.withLock { $0.decision = decision }
  }

  func hasScreen(_ hasScreen: Bool) {
    state.withLock { $0.hasScreen = hasScreen }
  }

  func allows(_ request: ConsentRequest, for bundleIdentifier: String) async throws -> Bool {
    try state.withLock {
      guard $0.hasScreen else { throw NoScreen() }
      $0.requests.append(request)
      return $0.decision
    }
  }

  func tell(_ notice: ConsentNotice, for bundleIdentifier: String) async {
    state.withLock { $0.notices.append(notice) }
  }
}

/// A diagnosed user who met the phone and publishes the key of that day.
struct DiagnosedUser {
  let key: TemporaryExposureKey

  init(_ number: UInt32 = 1, on day: Date = TestPhone.noon, period: UInt32 = 144) throws {
    let bytes = withUnsafeBytes(of: number.bigEndian, Array.init)
    let start = try #require(IntervalNumber(day)).startOfDay
    key = try #require(
      TemporaryExposureKey(
        bytes: Array(repeating: 9, count: 12) + bytes, rollingStart: start, rollingPeriod: period))
  }

  /// Spends half an hour near `phone`, starting now.
  func meets(_ phone: TestPhone) async {
    await phone.receive(key, seconds: Array(stride(from: 0, through: 1_800, by: 300)))
  }

  /// A beacon of the user, as a phone near them receives it at `time`.
  func sighting(
    at time: Date, strength: Int8 = -40,
    metadata: BluetoothMetadata = BluetoothMetadata(transmitPower: 8)
  ) throws -> Sighting {
    let schedule = KeySchedule(key)
    let identifier = schedule.identifier(at: try #require(IntervalNumber(time)))
    return Sighting(
      advertisement: Advertisement(
        identifier: identifier, metadata: schedule.seal(metadata, beside: identifier)),
      time: time, signalStrength: strength)
  }

  func published(
    _ reportType: ReportType = .confirmedTest, variant: VariantOfConcern? = nil
  ) throws -> DiagnosisKey {
    try #require(
      DiagnosisKey(
        key: key, transmissionRiskLevel: 7, reportType: reportType, daysSinceOnsetOfSymptoms: 0,
        variantOfConcern: variant))
  }

  /// A configuration of version 2 in which the user was infectious.
  static func configuration(
    _ map: [NSNumber: NSNumber] = [0: 1], testWeight: Double = 100
  ) -> ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = map
    configuration.reportTypeConfirmedTestWeight = testWeight
    return configuration
  }
}
