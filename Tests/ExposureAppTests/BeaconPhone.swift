import Crypto
import DiagnosisKeyFile
import ExposureKeys
import ExposureNotification
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ExposureApp

/// A phone with the real framework of API version 2 below its app, whose radio hears what a test says.
final class BeaconPhone {
  let app: TestApp
  private let device: Device
  private let radio = QuietRadio()
  private let signer: KeyFileSigner
  private let names = Mutex<[String]>([])

  init(_ policy: WindowRiskPolicy) throws {
    app = try TestApp()
    app.windowRisk = try .example(policy)
    signer = try KeyFileSigner(
      privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, keyID: "260", keyVersion: "v1")
    let folder = app.temporary.path("system")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let key = try VerificationPublicKey(
      keyID: "260", keyVersion: "v1", publicKeyPEM: signer.publicKeyPEM)
    device = Device(
      radio: radio, consent: Agreeing(), clock: app.clock, randomness: app.randomness,
      folder: folder, sealingKey: try #require(app.sealingKey),
      region: RegionConfiguration(region: "PL", keys: [key]),
      bundleIdentifier: "pl.gov.mc.protegosafe", apiVersion: 2)
  }

  /// The app, switched on, after its first look at an empty index.
  func launch() async throws -> ExposureApp {
    app.network.index([])
    let launched = try app.launch(manager: ENManager(device: device))
    #expect(await launched.enable() == .enabled)
    #expect(await launched.check() == .checked(.none))
    return launched
  }

  /// Somebody who fell ill today and whose test is positive.
  func stranger(_ number: UInt8 = 1) throws -> DiagnosisKey {
    let today = try #require(IntervalNumber(app.clock.now)).startOfDay
    let bytes = [UInt8](repeating: number, count: 16)
    let key = try #require(TemporaryExposureKey(bytes: bytes, rollingStart: today))
    return try #require(
      DiagnosisKey(
        key: key, transmissionRiskLevel: 0, reportType: .confirmedTest,
        daysSinceOnsetOfSymptoms: 0))
  }

  /// Being near, a scan each five minutes from now.
  func hear(_ stranger: DiagnosisKey, minutes: Double, attenuation: Int) async {
    let schedule = KeySchedule(stranger.key)
    for minute in stride(from: 0, through: minutes, by: 5) {
      let time = app.clock.now.addingTimeInterval(minute * 60)
      guard let interval = IntervalNumber(time) else { continue }
      let identifier = schedule.identifier(at: interval)
      let metadata = schedule.seal(BluetoothMetadata(transmitPower: 8), beside: identifier)
      await radio.hear([
        Sighting(
          advertisement: Advertisement(identifier: identifier, metadata: metadata), time: time,
          signalStrength: Int8(8 - attenuation))
      ])
    }
  }

  /// Publishes one more key file.
  func publish(_ keys: [DiagnosisKey]) throws {
    let file = app.temporary.path("published.zip")
    try KeyFileWriter.write(
      to: file, start: 1_602_720_000, end: 1_602_734_400, region: "PL", keys: keys,
      signers: [signer])
    let all = names.withLock {
      $0.append(TestApp.name($0.count))
      return $0
    }
    app.network.index(all)
    app.network.script("/" + all[all.count - 1], .answer(200, try Data(contentsOf: file)))
    try FileManager.default.removeItem(at: file)
  }

  private struct Agreeing: ConsentPrompt {
    func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool { true }
  }
}

/// A radio that is on and without air.
private final class QuietRadio: Radio {
  private let receiver = Mutex<(@Sendable ([Sighting]) async -> Void)?>(nil)

  var isPoweredOn: Bool { true }

  func hear(_ sightings: [Sighting]) async { await receiver.withLock { $0 }?(sightings) }
  func advertise(_ advertisement: Advertisement) async {}
  func stopAdvertising() async {}
  func listen(_ receive: @escaping @Sendable ([Sighting]) async -> Void) async {
    receiver.withLock { $0 = receive }
  }
  func stopListening() async { receiver.withLock { $0 = nil } }
}
