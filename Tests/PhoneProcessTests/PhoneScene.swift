// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureApp
import ExposureKeys
import Foundation
import KeyServerAPI
import Logging
import SealedStorage
import Secrets
import Synchronization
import TestSupport
import Testing
import World

@testable import PhoneProcess

/// A phone in this process, with a manual clock and a key server in memory. Each `phone()` starts the same
/// phone again.
final class PhoneScene {
  /// 2020-10-15 12:00 UTC.
  static let start = Date(timeIntervalSince1970: 1_602_763_200)

  let clock: ManualClock
  let server: MemoryServer
  let folder: PhoneFolder
  let log = CollectedLog()
  /// The time zone of the owner's calendar.
  let zone: TimeZone
  private let temporary: TemporaryFolder
  private let key = SealingKey(from: SystemRandomness())
  private let root = RootPrivateKey()
  private let signingKey = RootPrivateKey()

  init(at start: Date = PhoneScene.start, in zone: TimeZone = .gmt) throws {
    clock = ManualClock(start)
    self.zone = zone
    temporary = try TemporaryFolder()
    folder = try PhoneFolder(creating: temporary.path("phone").path)
    server = MemoryServer(clock: clock)
    server.publish("", at: KeyServerRoute.index)
    try publishConfiguration(version: 1)
  }

  /// Starts the phone, in another folder or with another radio if they are given; with a policy it uses version 2 of
  /// the framework.
  func phone(
    in other: PhoneFolder? = nil, radio: (any Radio)? = nil, windowRisk: WindowRiskAssessment? = nil
  ) throws -> Phone {
    let address = try #require(URL(string: "http://server.test"))
    return Phone(
      in: other ?? folder, key: key,
      settings: PhoneSettings(
        app: AppConfiguration(
          verificationServer: address, keyServer: address, appPackageName: "org.example.app",
          rootKey: root.rootKey, windowRisk: windowRisk)),
      surroundings: Phone.Surroundings(
        clock: clock, randomness: SystemRandomness(), network: server,
        radio: radio ?? DeveloperRadio(nil, clock: clock), desktop: nil, zone: zone,
        logger: log.logger))
  }

  /// Publishes a device configuration with the key of this server, issued now.
  func publishConfiguration(version: Int) throws {
    let now = Int64(clock.now.timeIntervalSince1970)
    let document = DeviceConfiguration(
      version: version, issued: now, expires: now + DeviceConfigurationLimit.lifetime,
      keys: [
        .init(keyID: "260", keyVersion: "v1", publicKey: signingKey.rootKey.publicKeyPEM)
      ])
    let signed = try UnverifiedDeviceConfiguration.signed(document, by: root)
    server.publish(try signed.encoded(), at: KeyServerRoute.deviceConfiguration)
  }

  /// Publishes a file with `key`, which ends now.
  func publish(_ key: TemporaryExposureKey) throws {
    let name = try publishFile(with: key)
    server.publish(Data(KeyFileIndex.render([name]).utf8), at: KeyServerRoute.index)
  }

  /// Publishes a file with `key`, which ends now or at `end`, without listing it.
  func publishFile(
    with key: TemporaryExposureKey, end: Int64? = nil, edition: Int = 1, region: String = "PL"
  ) throws -> KeyFileName {
    let end = end ?? Int64(clock.now.timeIntervalSince1970)
    let name = try #require(KeyFileName(start: end - 14_400, end: end, edition: edition))
    let file = temporary.path(name.text)
    let signer = try KeyFileSigner(
      privateKeyPEM: try #require(signingKey.privateKeyPEM), keyID: "260", keyVersion: "v1")
    let keys = [
      try #require(DiagnosisKey(key: key, transmissionRiskLevel: 8, reportType: .confirmedTest))
    ]
    _ = try KeyFileWriter.write(
      to: file, start: UInt64(end - 14_400), end: UInt64(end), region: region, keys: keys,
      signers: [signer])
    server.publish(try Data(contentsOf: file), at: name.text)
    return name
  }

  /// Flips one bit in the middle of a file of the phone.
  func damage(_ file: URL) throws {
    var content = try Data(contentsOf: file)
    content[content.count / 2] ^= 1
    try content.write(to: file)
  }
}

extension Phone {
  /// Performs an operation and returns its exit code and its JSON object.
  func facts(
    _ operation: PhoneOperation
  ) async throws -> (status: PhoneReply.Status, json: [String: Any]) {
    let reply = await perform(PhoneRequest(operation))
    let json = try JSONSerialization.jsonObject(with: Data((reply.json ?? "{}").utf8))
    return (reply.status, json as? [String: Any] ?? [:])
  }
}

/// A server with files in memory, which counts the requests for them.
final class MemoryServer: Network {
  private struct State {
    var files: [String: Data] = [:]
    var requests: [(path: String, time: Date)] = []
    var page: Data?
    var phoneAhead: TimeInterval = 0
  }

  let connection = NetworkConnection.wifi
  private let clock: ManualClock
  private let state = Mutex(State())

  init(clock: ManualClock) {
    self.clock = clock
  }

  func publish(_ content: Data, at path: String) {
    state.withLock { $0.files[Self.name(path)] = content }
  }

  /// Sets the phone's clock forward, or back if `seconds` is negative; that of the server stays.
  func setPhoneClock(ahead seconds: TimeInterval) {
    clock.jump(by: seconds)
    state.withLock { $0.phoneAhead += seconds }
  }

  /// The right time.
  private var now: Date { clock.now.addingTimeInterval(-state.withLock(\.phoneAhead)) }

  /// Makes a network answer all requests with `page`; `nil` ends that.
  func answerAll(with page: String?) { state.withLock { $0.page = page.map { Data($0.utf8) } } }

  /// Removes a file.
  func remove(_ path: String) { state.withLock { $0.files[Self.name(path)] = nil } }

  func content(at path: String) -> Data? { state.withLock { $0.files[Self.name(path)] } }

  func publish(_ text: String, at path: String) { publish(Data(text.utf8), at: path) }

  /// The times of the requests for a file.
  func requests(for path: String) -> [Date] {
    state.withLock { $0.requests.filter { $0.path == Self.name(path) }.map(\.time) }
  }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    let content = content(of: request)
    return NetworkResponse(
      status: content == nil ? 404 : 200, body: content ?? Data(), date: now)
  }

  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
    let content = content(of: request)
    try content?.write(to: file)
    return NetworkResponse(status: content == nil ? 404 : 200)
  }

  private func content(of request: NetworkRequest) -> Data? {
    let path = Self.name(request.url.path)
    return state.withLock { state in
      if !request.isDecoy { state.requests.append((path, clock.now)) }
      return state.page ?? state.files[path]
    }
  }

  private static func name(_ path: String) -> String { String(path.drop { $0 == "/" }) }
}
