import Crypto
import DiagnosisKeyFile
import ExposureKeys
import ExposureNotification
import Foundation
import SealedStorage
import World

/// What stands around a snippet: a phone, the person who holds it, a passer-by and an authority.
@MainActor
final class Stage {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "firebreak-snippet-\(UUID().uuidString)")
  let clock = HandClock()
  let radio = HandRadio()
  let authority: KeyFileSigner
  let region: RegionConfiguration
  let device: Device
  let manager: ENManager

  /// A phone that is switched on unless `isEnabled` says otherwise.
  init(
    apiVersion: Int = 1, person: any ConsentPrompt = Person(), isEnabled: Bool = true,
    entitlements: Entitlements = .exposureNotification, travel: (any TravelHistory)? = nil
  ) async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    authority = try KeyFileSigner(
      privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, keyID: "260", keyVersion: "v1")
    let key = try VerificationPublicKey(
      keyID: "260", keyVersion: "v1", publicKeyPEM: authority.publicKeyPEM)
    region = RegionConfiguration(region: "PL", keys: [key])
    device = Device(
      radio: radio, consent: person, clock: clock, randomness: SystemRandomness(), folder: folder,
      sealingKey: SealingKey(from: SystemRandomness()), region: region,
      bundleIdentifier: "org.example.app", apiVersion: apiVersion, entitlements: entitlements,
      travel: travel)
    Device.install(device)
    manager = ENManager()
    guard isEnabled else { return }
    try await manager.activate()
    try await manager.setExposureNotificationEnabled(true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// Twenty minutes beside somebody, two days before their key file is there. The file's address.
  func meetSomebody() async throws -> [URL] {
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
      await radio.hear(Sighting(advertisement: beacon, time: clock.now, signalStrength: -42))
      clock.move(by: 240)
    }
    clock.move(by: 2 * 86_400)
    let end = UInt64(clock.now.timeIntervalSince1970)
    let file = folder.appendingPathComponent("keys.zip")
    try KeyFileWriter.write(
      to: file, start: end - 14_400, end: end, region: "PL", keys: [diagnosis],
      signers: [authority])
    return [file]
  }

  /// The snippet of `ENManager` in one call, for the pages that go on from there.
  func summary(
    _ configuration: ENExposureConfiguration = .init()
  ) async throws -> ENExposureDetectionSummary {
    let files = try await meetSomebody()
    return try await withCheckedThrowingContinuation { answer in
      manager.detectExposures(configuration: configuration, diagnosisKeyURLs: files) {
        found, error in
        answer.resume(with: found.map(Result.success) ?? .failure(error ?? ENError(.unknown)))
      }
    }
  }

  /// The windows behind a summary, in one call.
  func windows() async throws -> [ENExposureWindow] {
    let summary = try await summary(.everyDayCounts)
    return try await withCheckedThrowingContinuation { answer in
      manager.getExposureWindows(summary: summary) { found, error in
        answer.resume(with: found.map(Result.success) ?? .failure(error ?? ENError(.unknown)))
      }
    }
  }
}

/// Waits until every handler that is due was called.
@MainActor
func drained(_ manager: ENManager) async {
  await withCheckedContinuation { done in manager.dispatchQueue.async { done.resume() } }
}

extension ENExposureConfiguration {
  /// A configuration of API version 2 in which a person is infectious on every day.
  static var everyDayCounts: ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    var days: [NSNumber: NSNumber] = [:]
    for day in -14...14 { days[day as NSNumber] = 1 }
    configuration.infectiousnessForDaysSinceOnsetOfSymptoms = days
    return configuration
  }
}
