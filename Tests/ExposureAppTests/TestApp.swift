// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import SealedStorage
import TestSupport

@testable import ExposureApp

/// An app with test doubles. Each `launch()` starts the app of the same phone again.
final class TestApp {
  /// The end of the oldest file in the index of these tests: 2020-10-15 04:00 UTC.
  static let firstEnd = 1_602_734_400
  /// 2020-10-15 12:00 UTC.
  static let noon = Date(timeIntervalSince1970: 1_602_763_200)
  static let day: TimeInterval = 86_400
  static let tokenPath = "/getAccessToken"
  static let uploadPath = "/uploadDiagnosisKeys"
  static let configurationPath = "/remote-configuration.json"
  static let deviceConfigurationPath = "/device-configuration.json"

  let temporary: TemporaryFolder
  let folder: URL
  let clock = ManualClock(TestApp.noon)
  let randomness = TestRandomness()
  let network: ScriptedNetwork
  let script = FrameworkScript()
  let scheduler = RecordingScheduler()
  let notices = RecordingNotices()
  let device = TestAttestation()
  let trust = RecordingTrust()
  let root = RootPrivateKey()
  let signer = P256.Signing.PrivateKey()
  var sealingKey: SealingKey?
  var windowRisk: WindowRiskAssessment?
  var otherRegions: [String] = []
  /// The root key that the app is configured with; `nil` for that of `root`.
  var rootKey: RootKey?
  private var inspect = TestApp.facts

  init(connection: NetworkConnection = .wifi, folder: URL? = nil) throws {
    temporary = try TemporaryFolder()
    self.folder = folder ?? temporary.path("app")
    network = ScriptedNetwork(connection: connection)
    sealingKey = SealingKey(from: randomness)
    try serve(try document())
  }

  func launch(
    manager: sending ENManager? = nil, damage: (@Sendable () async -> [DataDamage])? = nil
  ) throws -> ExposureApp {
    let script = script
    return ExposureApp(
      manager: manager ?? ScriptedFramework(script),
      authorizationStatus: { script.state.authorization },
      configuration: try configuration(), folder: folder, sealingKey: sealingKey, clock: clock,
      randomness: randomness, network: network, scheduler: scheduler, notices: notices,
      deviceCheck: device, trust: trust, inspect: inspect,
      damage: damage ?? { script.state.damage },
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
  }

  func configuration() throws -> AppConfiguration {
    AppConfiguration(
      verificationServer: try url("http://verification.test"),
      keyServer: try url("http://keys.test"), otherRegions: otherRegions,
      appPackageName: "pl.gov.mc.protegosafe",
      rootKey: rootKey ?? root.rootKey, windowRisk: windowRisk)
  }

  /// Launches an app that has read the index once, so that files published now are pending.
  func launchedAfterFirstCheck() async throws -> ExposureApp {
    network.index([])
    let app = try launch()
    _ = await app.check()
    return app
  }

  /// Runs a check while time passes for everything that waits, such as the pauses between downloads.
  func checkWhileTimePasses(_ app: ExposureApp) async -> CheckOutcome {
    let clock = clock
    let time = Task {
      while !Task.isCancelled {
        if clock.sleeperCount > 0 { clock.advance(by: 1) }
        await Task.yield()
      }
    }
    defer { time.cancel() }
    return await app.check()
  }

  /// Lets time pass in steps of half a day, at which the app removes old data and learns to trust the clock.
  func pass(_ seconds: TimeInterval, in app: ExposureApp) async throws {
    var left = seconds
    while left > 0 {
      let step = min(left, Self.day / 2)
      clock.advance(by: step)
      left -= step
      try await app.removeOldData()
    }
  }

  /// Makes the app of the next launch regard only files of this size as key files.
  func countsOnlyFiles(of bytes: Int) {
    inspect = { file in
      guard try Data(contentsOf: file).count == bytes else {
        throw CocoaError(.fileReadCorruptFile)
      }
      return try Self.facts(of: file)
    }
  }

  /// The facts of a file with as many "keys" as bytes. Its header is that of its name, or of the name that the
  /// content of `text(ofFile:)` has.
  @Sendable static func facts(of file: URL) throws -> KeyFileFacts {
    let content = try Data(contentsOf: file)
    let text = String(decoding: content, as: UTF8.self)
    let stated = text.hasPrefix(headerMark) ? String(text.dropFirst(headerMark.count)) : nil
    guard let name = KeyFileName(stated ?? file.lastPathComponent) else {
      throw CocoaError(.fileReadCorruptFile)
    }
    let end = UInt64(name.endTimestamp)
    return KeyFileFacts(
      start: name.startTimestamp.map(UInt64.init) ?? end - 14_400, end: end, region: "PL",
      keyCount: content.count)
  }

  /// The content of the file with this name, whatever name it is served under.
  static func text(ofFile name: String) -> String { headerMark + name }

  private static let headerMark = "header of "

  /// Flips one bit in the middle of a file of the store.
  func damage(_ name: String) throws {
    let file = folder.appendingPathComponent("Store/\(name)")
    var content = try Data(contentsOf: file)
    content[content.count / 2] ^= 1
    try content.write(to: file)
  }

  /// The name of a file; each file covers four hours.
  static func name(_ number: Int) -> String {
    let start = firstEnd + (number - 1) * 14_400
    return "\(start)-\(start + 14_400)-00001.zip"
  }

  static func end(_ number: Int) -> Int64 { Int64(firstEnd + number * 14_400) }

  /// Publishes files; each contains as many "keys" as bytes.
  func publish(_ numbers: Range<Int>, except broken: [Int: ScriptedNetwork.Reply] = [:]) {
    network.index(numbers.map(Self.name))
    for number in numbers {
      network.script("/" + Self.name(number), broken[number] ?? .text("0123456789"))
    }
  }

  /// The file names in the folder for key files.
  var keyFiles: [String] {
    let content = try? FileManager.default.contentsOfDirectory(
      atPath: folder.appendingPathComponent("KeyFiles").path)
    return (content ?? []).sorted()
  }

  /// Adds a finished key that is `daysAgo` days old.
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
    network.script(Self.configurationPath, .response(200, try signed.encoded()))
  }

  /// A device configuration with the app's signer, issued now.
  func document(version: Int = 1) throws -> DeviceConfiguration {
    let now = Int64(clock.now.timeIntervalSince1970)
    return DeviceConfiguration(
      version: version, issued: now, expires: now + DeviceConfigurationLimit.lifetime,
      keys: [
        .init(keyID: "260", keyVersion: "v1", publicKey: signer.publicKey.pemRepresentation)
      ])
  }

  func serve(_ document: DeviceConfiguration, signedBy key: RootPrivateKey? = nil) throws {
    let signed = try UnverifiedDeviceConfiguration.signed(document, by: key ?? root)
    network.script(Self.deviceConfigurationPath, .response(200, try signed.encoded()))
  }

  private func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw CocoaError(.formatting) }
    return url
  }
}

// Parts of the state that many tests read.
extension ExposureApp {
  var lastFailure: CheckFailure? { currentState.lastFailure }
  var configurationRefusal: DeviceConfigurationError? { currentState.configurationRefusal }
  var storageDamage: [DataDamage] { currentState.damage }
  var hasPendingUpload: Bool { currentState.hasPendingUpload }
  var isChecking: Bool { currentState.isChecking }
}
