// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import Simulation
import Synchronization
import TestSupport
import Testing
import World

/// A health authority with real servers, and phones that upload and check over HTTP.
struct DeviceConfigurationScene {
  /// 2024-03-04 08:00 UTC, a Monday.
  static let start = Date(timeIntervalSince1970: 1_709_539_200)
  static let hour: TimeInterval = 3_600
  static let day: TimeInterval = 86_400

  let world: SimulatedWorld
  let authority: SimulatedHealthAuthority
  private let folder: TemporaryFolder
  private let network: HTTPNetwork
  private let configuration: AppConfiguration

  /// Runs `body` against the servers, then stops them.
  static func run(
    rollUps: Bool = false, _ body: (DeviceConfigurationScene) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let logger = Logger(label: "scene") { _ in SwiftLogNoOpLogHandler() }
    let world = SimulatedWorld(start: start, seed: 7, logger: logger)
    let authority = try SimulatedHealthAuthority(
      folder: folder.path("authority"), clock: world.clock, randomness: world.randomness,
      deviceCheck: nil, minimumKeys: 10, rollUps: rollUps, logger: logger)
    let network = HTTPNetwork(ownMachineTimeoutSeconds: Double(Patience.seconds))
    try await authority.serve(over: network) {
      try await body(
        DeviceConfigurationScene(
          world: world, authority: authority, folder: folder, network: network,
          configuration: await authority.appConfiguration()))
    }
  }

  /// A new phone that has been turned on and has checked once, and counts its downloads with `record`.
  func phone(
    _ name: String, countingBy record: DownloadRecord? = nil
  ) async throws -> SimulatedPhone {
    let phone = SimulatedPhone(
      name: name, folder: folder.path("phone-\(name)"), world: world,
      configuration: configuration,
      network: record.map { RecordedNetwork(network: network, record: $0) } ?? network)
    await phone.app.start()
    #expect(await phone.app.enable() == .enabled)
    _ = await phone.app.check()
    return phone
  }

  /// Half an hour in which two phones are close together.
  func meet(_ one: SimulatedPhone, _ other: SimulatedPhone) async {
    world.air.place(one.name, other.name, metres: 0.5)
    await world.run(
      until: world.clock.now.addingTimeInterval(Self.hour / 2), phones: [one, other])
    world.air.separate(one.name, other.name)
  }

  /// Lets the user of `phone` upload the finished keys, and returns the result.
  func upload(_ phone: SimulatedPhone) async throws -> UploadOutcome {
    await phone.device.beat()
    let pin = try await authority.official(network: network).issueCode()
    return await phone.app.upload(pin: pin, isInteroperabilityEnabled: false)
  }

  /// Uploads the keys that `phone` has used until yesterday, and publishes them.
  func publish(_ phone: SimulatedPhone) async throws {
    let outcome = try await upload(phone)
    #expect(outcome.result == .success, "\(outcome)")
    world.clock.advance(by: 2 * Self.hour)
    try await authority.keyServer.exportDue()
  }

  /// The hash of the newest key file.
  func newestFile() async throws -> KeyFileHash {
    let server = await authority.keyServerURL
    let index = try await network.send(
      NetworkRequest(server.appendingPathComponent(KeyServerRoute.index)))
    let name = try #require(
      KeyFileIndex.parse(String(decoding: index.body, as: UTF8.self)).names.last)
    let file = folder.path("newest.zip")
    try? FileManager.default.removeItem(at: file)
    let response = try await network.download(
      NetworkRequest(
        server.appendingPathComponent(KeyServerRoute.keyFile(name)), responseBytesMax: 16 << 20),
      to: file)
    #expect(response.status == 200)
    return try #require(KeyFileHash(ofFile: file))
  }
}

/// The paths of the files that a phone has downloaded.
final class DownloadRecord: Sendable {
  private let list = Mutex<[String]>([])

  var paths: [String] { list.withLock { $0 } }

  func add(_ path: String) { list.withLock { $0.append(path) } }
}

/// A network that records the downloads.
private struct RecordedNetwork: Network {
  let network: HTTPNetwork
  let record: DownloadRecord

  var connection: NetworkConnection { get async { network.connection } }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try await network.send(request)
  }

  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
    record.add(request.url.path)
    return try await network.download(request, to: file)
  }
}
