import Crypto
import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import SealedStorage
import TestSupport

@testable import ExposureApp

/// An app in a test's hands. Each `launch()` is the same phone's app started once more.
final class TestApp {
  /// The end of the oldest file that the index of these tests names: 2020-10-15 04:00 UTC.
  static let firstEnd = 1_602_734_400
  static let tokenPath = "/getAccessToken"
  static let uploadPath = "/uploadDiagnosisKeys"
  static let configurationPath = "/remote-configuration.json"

  let temporary: TemporaryFolder
  let folder: URL
  let clock = HandClock()
  let randomness = SeededRandomness()
  let network: ScriptedNetwork
  let script = FrameworkScript()
  let scheduler = RecordingScheduler()
  let notices = RecordingNotices()
  let device = CountingDevice()
  let signer = P256.Signing.PrivateKey()
  var sealingKey: SealingKey?
  var windowRisk: WindowRiskAssessment?

  init(connection: NetworkConnection = .wifi, folder: URL? = nil) throws {
    temporary = try TemporaryFolder()
    self.folder = folder ?? temporary.path("app")
    network = ScriptedNetwork(connection: connection)
    sealingKey = SealingKey(from: randomness)
  }

  func launch(manager: sending ENManager? = nil) throws -> ExposureApp {
    let script = script
    return ExposureApp(
      manager: manager ?? ScriptedFramework(script),
      authorizationStatus: { script.state.authorization },
      configuration: try configuration(), folder: folder, sealingKey: sealingKey, clock: clock,
      randomness: randomness, network: network, scheduler: scheduler, notices: notices,
      deviceCheck: device, countKeys: { try Data(contentsOf: $0).count },
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
  }

  func configuration() throws -> AppConfiguration {
    AppConfiguration(
      verificationServer: try url("http://verification.test"),
      keyServer: try url("http://keys.test"),
      appPackageName: "pl.gov.mc.protegosafe",
      remoteConfigurationKeys: [
        try RemoteConfigurationKey(
          keyID: "260", keyVersion: "v1", publicKeyPEM: signer.publicKey.pemRepresentation)
      ], windowRisk: windowRisk)
  }

  /// An app that has looked at the index once, so that what comes now is wanted.
  func launchedAfterFirstCheck() async throws -> ExposureApp {
    network.index([])
    let app = try launch()
    _ = await app.check()
    return app
  }

  /// The name of the file number `number`, four hours each.
  static func name(_ number: Int) -> String {
    let start = firstEnd + (number - 1) * 14_400
    return "\(start)-\(start + 14_400)-00001.zip"
  }

  static func end(_ number: Int) -> Int64 { Int64(firstEnd + number * 14_400) }

  /// Lists files 0 ..< `count`; each can be had and holds as many "keys" as its content has bytes.
  func publish(_ numbers: Range<Int>, except broken: [Int: ScriptedNetwork.Reply] = [:]) {
    network.index(numbers.map(Self.name))
    for number in numbers {
      network.script("/" + Self.name(number), broken[number] ?? .text("0123456789"))
    }
  }

  /// The names that lie in the folder of key files.
  var keyFiles: [String] {
    let content = try? FileManager.default.contentsOfDirectory(
      atPath: folder.appendingPathComponent("KeyFiles").path)
    return (content ?? []).sorted()
  }

  /// A day's key that is over, `daysAgo` days old.
  func addKey(daysAgo: Int, number: UInt8 = 0, period: UInt32 = 144) {
    let today = UInt32(clock.now.timeIntervalSince1970 / 86_400)
    let start = (today - UInt32(daysAgo)) * 144
    let data = Data((0..<16).map { _ in UInt8(daysAgo) &* 16 &+ number })
    script.update { $0.keys.append((data: data, start: start, period: period)) }
  }

  func serve(_ configuration: RemoteConfiguration, signedBy key: P256.Signing.PrivateKey? = nil)
    throws
  {
    let signed = try UnverifiedRemoteConfiguration.signed(
      configuration, privateKeyPEM: (key ?? signer).pemRepresentation, keyID: "260",
      keyVersion: "v1")
    network.script(Self.configurationPath, .answer(200, try signed.encoded()))
  }

  private func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw CocoaError(.formatting) }
    return url
  }
}
