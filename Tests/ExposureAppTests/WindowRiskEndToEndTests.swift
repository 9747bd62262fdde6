// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import ExposureNotification
import Foundation
import KeyServerAPI
import RiskRules
import Synchronization
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Exposure windows from beacon to notice") struct WindowRiskEndToEndTests {
  /// The policy of the published cases that `firebreak conformance cwa-risk` reads.
  private struct Published: Decodable {
    let defaultRiskCalculationConfiguration: WindowRiskPolicy
  }

  /// Half an hour near a diagnosed user, whose key is in the first file of the next day.
  private func afterEncounter(
    _ policy: WindowRiskPolicy, attenuation: Int
  ) async throws -> (BeaconPhone, ExposureApp) {
    let phone = try BeaconPhone(policy)
    let app = try await phone.launch()
    let diagnosedUser = try phone.diagnosedUser()
    await phone.hear(diagnosedUser, minutes: 30, attenuation: attenuation)
    phone.app.clock.advance(by: TestApp.day)
    try phone.publish([diagnosedUser])
    return (phone, app)
  }

  @Test("A beacon received for half an hour becomes a high day, an exposure and one notice")
  func beaconToNotice() async throws {
    let (phone, app) = try await afterEncounter(.example, attenuation: 50)
    #expect(await app.check() == .checked(.high))
    #expect(phone.app.notices.risks == [.high])
    let exposure = try #require(await app.exposures.first)
    #expect(exposure.judgement == DayRisk(level: .high, normalizedMinutes: 32))
    #expect(exposure.durationSeconds == 1_920)
    #expect(exposure.day.start == TestApp.noon.addingTimeInterval(-TestApp.day / 2))
    #expect(await app.checks.map(\.matchedKeyCount) == [1])
    #expect(await app.cursor == TestApp.end(0))
  }

  @Test(
    "A flipped bit in the framework's matches does not end the risk: the files are analysed again")
  func damagedMatches() async throws {
    let (phone, app) = try await afterEncounter(.example, attenuation: 50)
    #expect(await app.check() == .checked(.high))
    try phone.damageMatches()
    try phone.publish([phone.diagnosedUser(2)])
    #expect(await app.check() == .checked(.high))
    #expect(await app.exposures.map(\.judgement?.level) == [.high])
    #expect(await app.storageDamage.isEmpty)
    #expect(phone.app.notices.risks == [.high])
  }

  @Test("A removed day stays removed although the framework keeps the key")
  func removed() async throws {
    let (phone, app) = try await afterEncounter(.example, attenuation: 50)
    #expect(await app.check() == .checked(.high))
    try await app.removeExposures()
    try phone.publish([phone.diagnosedUser(2)])
    #expect(await app.check() == .checked(.none))
    #expect(await app.checks.map(\.matchedKeyCount) == [1, 1])
    #expect(await app.exposures.isEmpty)
    #expect(phone.app.notices.risks == [.high])
  }

  @Test(
    "The Corona-Warn-App's policy rates the framework's own windows",
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absence)),
    arguments: [
      // 32 minutes x 1.4 (test, standard infectiousness) x 1, x 0.3 and x 0.
      (50, WindowRiskLevel?.some(.high), 44.8), (65, .low, 13.44), (80, nil, 0),
    ])
  func publishedPolicy(attenuation: Int, level: WindowRiskLevel?, minutes: Double) async throws {
    let file = SharedData.url("risk/cwa-ios/exposure-windows-risk-calculation.json")
    let published = try JSONDecoder().decode(Published.self, from: try Data(contentsOf: file))
    let (phone, app) = try await afterEncounter(
      published.defaultRiskCalculationConfiguration, attenuation: attenuation)
    let expected = level.map { RiskLevel($0) } ?? RiskLevel.none
    #expect(await app.check() == .checked(expected))
    #expect(
      await app.exposures.map(\.judgement)
        == [DayRisk(level: level, normalizedMinutes: minutes)])
    #expect(phone.app.notices.risks == (level == nil ? [] : [expected]))
  }
}

/// A phone with the real framework of API version 2 and a scripted radio.
final class BeaconPhone {
  let app: TestApp
  private let device: Device
  private let radio = ScriptedRadio()
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
      radio: radio, consent: AlwaysAllow(), clock: app.clock, randomness: app.randomness,
      folder: folder, sealingKey: try #require(app.sealingKey),
      region: RegionConfiguration(region: "PL", keys: [key]),
      bundleIdentifier: "pl.gov.mc.protegosafe", apiVersion: 2,
      calibration: Calibration(transmitPower: 8))
  }

  /// Launches the app, enables it and reads an empty index.
  func launch() async throws -> ExposureApp {
    app.network.index([])
    let device = device
    let launched = try app.launch(manager: ENManager(device: device)) {
      device.storageDamage.map { DataDamage($0) }
    }
    #expect(await launched.enable() == .enabled)
    #expect(await launched.check() == .checked(.none))
    return launched
  }

  /// Flips one bit in the framework's matches of earlier detections.
  func damageMatches() throws {
    let folder = app.temporary.path("system")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let name = try #require(names.first { $0.hasPrefix("matches") })
    let file = folder.appendingPathComponent(name)
    var content = try Data(contentsOf: file)
    content[content.count / 2] ^= 1
    try content.write(to: file)
  }

  /// The key of a user with symptoms since today and a positive test.
  func diagnosedUser(_ number: UInt8 = 1) throws -> DiagnosisKey {
    let today = try #require(IntervalNumber(app.clock.now)).startOfDay
    let bytes = [UInt8](repeating: number, count: 16)
    let key = try #require(TemporaryExposureKey(bytes: bytes, rollingStart: today))
    return try #require(
      DiagnosisKey(
        key: key, transmissionRiskLevel: 0, reportType: .confirmedTest,
        daysSinceOnsetOfSymptoms: 0))
  }

  /// Receives a beacon every five minutes from now.
  func hear(_ diagnosedUser: DiagnosisKey, minutes: Double, attenuation: Int) async {
    let schedule = KeySchedule(diagnosedUser.key)
    for minute in stride(from: 0, through: minutes, by: 5) {
      let time = app.clock.now.addingTimeInterval(minute * 60)
      guard let interval = IntervalNumber(time) else { continue }
      let identifier = schedule.identifier(at: interval)
      let metadata = schedule.seal(BluetoothMetadata(transmitPower: 8), beside: identifier)
      await radio.hear(
        Sighting(
          advertisement: Advertisement(identifier: identifier, metadata: metadata), time: time,
          signalStrength: Int8(8 - attenuation)))
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
    app.network.script("/" + all[all.count - 1], .response(200, try Data(contentsOf: file)))
    try FileManager.default.removeItem(at: file)
  }

  private struct AlwaysAllow: ConsentPrompt {
    func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool { true }
  }
}

/// A radio that receives what a test passes to `hear`.
private final class ScriptedRadio: Radio {
  private let receiver = Mutex<(@Sendable (Scan) async -> Void)?>(nil)

  var isPoweredOn: Bool { true }

  func hear(_ sighting: Sighting) async {
    await receiver.withLock { $0 }?(Scan(time: sighting.time, sightings: [sighting]))
  }
  func advertise(_ advertisement: Advertisement) async {}
  func stopAdvertising() async {}
  func listen(_ receive: @escaping @Sendable (Scan) async -> Void) async {
    receiver.withLock { $0 = receive }
  }
  func stopListening() async { receiver.withLock { $0 = nil } }
}
