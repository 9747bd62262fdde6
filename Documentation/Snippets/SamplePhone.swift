// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import ExposureNotification
import Foundation
import SealedStorage
import Synchronization
import World

/// A phone with its user, radio and health authority, for the snippets.
@MainActor
final class SamplePhone {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "firebreak-snippet-\(UUID().uuidString)")
  let clock = SampleClock()
  let radio = SampleRadio()
  let authority: KeyFileSigner
  let region: RegionConfiguration
  let device: Device
  let manager: ENManager

  /// A phone that is turned on unless `isEnabled` is false.
  init(
    apiVersion: Int = 1, user: any ConsentPrompt = SampleUser(), isEnabled: Bool = true,
    entitlements: Entitlements = .exposureNotification, travel: (any TravelHistory)? = nil
  ) async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    authority = try KeyFileSigner(
      privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, keyID: "260", keyVersion: "v1")
    let key = try VerificationPublicKey(
      keyID: "260", keyVersion: "v1", publicKeyPEM: authority.publicKeyPEM)
    region = RegionConfiguration(region: "PL", keys: [key])
    device = Device(
      radio: radio, consent: user, clock: clock, randomness: SystemRandomness(), folder: folder,
      sealingKey: SealingKey(from: SystemRandomness()), region: region,
      bundleIdentifier: "org.example.app", apiVersion: apiVersion, entitlements: entitlements,
      travel: travel, calibration: Calibration(transmitPower: 8))
    Device.install(device)
    manager = ENManager()
    guard isEnabled else { return }
    try await manager.activate()
    try await manager.setExposureNotificationEnabled(true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// Spends twenty minutes near a diagnosed user; returns the URL of the key file of two days later.
  func meetDiagnosedUser() async throws -> [URL] {
    guard let noon = IntervalNumber(clock.now),
      let key = TemporaryExposureKey(
        bytes: (0..<16).map(UInt8.init), rollingStart: noon.startOfDay),
      let diagnosis = DiagnosisKey(
        key: key, transmissionRiskLevel: 5, reportType: .confirmedTest, daysSinceOnsetOfSymptoms: 0,
        variantOfConcern: .highlyTransmissive)
    else { throw ENError(.badParameter) }
    let schedule = KeySchedule(key)
    for _ in 0..<6 {
      guard let interval = IntervalNumber(clock.now) else { continue }
      let identifier = schedule.identifier(at: interval)
      let metadata = schedule.seal(BluetoothMetadata(transmitPower: 8), beside: identifier)
      let beacon = Advertisement(identifier: identifier, metadata: metadata)
      await radio.receive(Sighting(advertisement: beacon, time: clock.now, signalStrength: -42))
      clock.advance(by: 240)
    }
    clock.advance(by: 2 * 86_400)
    let end = UInt64(clock.now.timeIntervalSince1970)
    let file = folder.appendingPathComponent("keys.zip")
    try KeyFileWriter.write(
      to: file, start: end - 14_400, end: end, region: "PL", keys: [diagnosis],
      signers: [authority])
    return [file]
  }

  /// Runs the snippet of `ENManager` and returns the summary.
  func summary(
    _ configuration: ENExposureConfiguration = .init()
  ) async throws -> ENExposureDetectionSummary {
    let files = try await meetDiagnosedUser()
    return try await withCheckedThrowingContinuation { done in
      manager.detectExposures(configuration: configuration, diagnosisKeyURLs: files) {
        found, error in
        done.resume(with: found.map(Result.success) ?? .failure(error ?? ENError(.unknown)))
      }
    }
  }

  /// Runs a detection of API version 2 and returns its windows.
  func windows() async throws -> [ENExposureWindow] {
    let summary = try await summary(.everyDayCounts)
    return try await withCheckedThrowingContinuation { done in
      manager.getExposureWindows(summary: summary) { found, error in
        done.resume(with: found.map(Result.success) ?? .failure(error ?? ENError(.unknown)))
      }
    }
  }
}

/// Waits until every pending handler was called.
@MainActor
func drained(_ manager: ENManager) async {
  await withCheckedContinuation { done in manager.dispatchQueue.async { done.resume() } }
}

extension ENExposureConfiguration {
  /// A configuration of API version 2 in which users are infectious on every day.
  static var everyDayCounts: ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    var days: [NSNumber: NSNumber] = [:]
    for day in -14...14 { days[day as NSNumber] = 1 }
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = days
    return configuration
  }
}

/// A clock that a snippet sets, starting at noon of 13 June 2020.
final class SampleClock: WallClock {
  private let time = Mutex(Date(timeIntervalSince1970: 1_592_049_600))

  var now: Date { time.withLock { $0 } }

  func advance(by seconds: TimeInterval) {
    time.withLock { $0.addTimeInterval(seconds) }
  }

  func sleep(until deadline: Date) async throws {
    try await Task.sleep(for: .seconds(3600))
  }
}

/// A radio that receives the sightings that a snippet passes in.
final class SampleRadio: Radio {
  typealias Receiver = @Sendable (Scan) async -> Void

  private let state = Mutex<(isPoweredOn: Bool, receiver: Receiver?)>((true, nil))

  var isPoweredOn: Bool { state.withLock { $0.isPoweredOn } }

  func switchOff() { state.withLock { $0.isPoweredOn = false } }

  func receive(_ sighting: Sighting) async {
    let receiver = state.withLock { $0.receiver }
    await receiver?(Scan(time: sighting.time, sightings: [sighting]))
  }

  func advertise(_ advertisement: Advertisement) async {}
  func stopAdvertising() async {}
  func listen(_ receive: @escaping Receiver) async { state.withLock { $0.receiver = receive } }
  func stopListening() async { state.withLock { $0.receiver = nil } }
}

/// A user who makes the same decision on every request.
struct SampleUser: ConsentPrompt {
  var decision = true

  func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool { decision }
}
