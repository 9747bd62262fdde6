// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureKeys
import Foundation
import KeyServerAPI
import Logging
import SealedStorage
import TestSupport
import Testing
import World

@testable import PhoneProcess

@Suite("The record of messages")
struct MessageRecordTests {
  /// Answers every request, or fails.
  private struct StubNetwork: Network {
    var status = 200
    var failure: NetworkFailure?
    let connection = NetworkConnection.wifi

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      if let failure { throw failure }
      return NetworkResponse(status: status, body: Data(#"{"secret":"token"}"#.utf8))
    }

    func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
      if let failure { throw failure }
      if status == 200 { try Data(count: 1_234).write(to: file) }
      return NetworkResponse(status: status)
    }
  }

  private let temporary: TemporaryFolder
  private let folder: PhoneFolder
  private let key = SealingKey(from: SystemRandomness())
  private let clock = ManualClock(Date(timeIntervalSince1970: 1_600_000_000))
  private let record: MessageRecord

  init() throws {
    temporary = try TemporaryFolder()
    folder = try PhoneFolder(creating: temporary.path("phone").path)
    record = Self.record(in: folder, key, clock)
  }

  private static func record(
    in folder: PhoneFolder, _ key: SealingKey, _ clock: ManualClock
  ) -> MessageRecord {
    MessageRecord(
      in: folder, key: key, clock: clock, retention: PhoneRetention(),
      randomness: SystemRandomness(),
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
  }

  /// The record of the same folder after a restart.
  private var restarted: MessageRecord { Self.record(in: folder, key, clock) }

  private func network(_ stub: StubNetwork = StubNetwork()) -> RecordingNetwork {
    RecordingNetwork(stub, record: record, clock: clock)
  }

  private func request(
    _ path: String, host: String = "http://keys.test:8081", body: String? = nil,
    isDecoy: Bool = false
  ) throws -> NetworkRequest {
    let url = try #require(URL(string: host))
    return NetworkRequest(
      url.appendingPathComponent(path), body: body.map { Data($0.utf8) },
      headers: isDecoy ? ["X-Chaff": "1"] : [:])
  }

  @Test("Each request is recorded with its kind, receiver and sizes, and without its content")
  func kinds() async throws {
    let network = network()
    let (secret, file) = ("A1B2C3", temporary.path("file"))
    for path in ["/index.txt", "/device-configuration.json", "/remote-configuration.json"] {
      _ = try await network.send(try request(path))
    }
    _ = try await network.download(try request("/1-2-00001.zip"), to: file)
    for isDecoy in [false, true] {
      _ = try await network.send(
        try request(
          "/getAccessToken", host: "https://codes.test", body: secret, isDecoy: isDecoy))
      _ = try await network.send(
        try request("/uploadDiagnosisKeys", body: secret, isDecoy: isDecoy))
    }
    let rows = Array(await record.rows.reversed())
    #expect(
      rows.map(\.kind) == [
        .index, .deviceConfiguration, .remoteConfiguration, .keyFile, .code, .upload, .decoy,
        .decoy,
      ])
    #expect(rows.map(\.sent) == [0, 0, 0, 0, 6, 6, 6, 6])
    #expect(rows.map(\.received) == [18, 18, 18, 1_234, 18, 18, 18, 18])
    #expect(rows.allSatisfy { $0.status == 200 && $0.failure == nil && $0.time == clock.now })
    let verification = rows.filter { $0.receiver == .verificationServer }
    #expect(verification.map(\.host) == ["codes.test", "codes.test"])
    #expect(rows.first?.host == "keys.test:8081")
    let text = String(decoding: try JSONEncoder().encode(rows), as: UTF8.self)
    #expect(!text.contains(secret) && !text.contains("token\"") && !text.contains("secret"))
  }

  @Test("A request without a response has a failure, and nothing was sent if no server was reached")
  func failures() async throws {
    for failure in [NetworkFailure.unreachable, .interrupted] {
      let network = network(StubNetwork(failure: failure))
      await #expect(throws: failure) {
        _ = try await network.send(try request("/uploadDiagnosisKeys", body: "body"))
      }
    }
    let network = network(StubNetwork(status: 404))
    _ = try await network.download(try request("/file.zip"), to: temporary.path("file"))
    let rows = Array(await record.rows.reversed())
    #expect(rows.map(\.sent) == [0, 4, 0] && rows.map(\.received) == [0, 0, 0])
    #expect(rows.map(\.failure) == [.unreachable, .interrupted, nil])
    #expect(rows.map(\.status) == [nil, nil, 404])
  }

  @Test("Downloads are stored in batches, and requests with a body at once")
  func batches() async throws {
    let network = network()
    for _ in 1..<MessageLimit.rowsPerWrite {
      _ = try await network.send(try request("/index.txt"))
    }
    #expect(!FileManager.default.fileExists(atPath: folder.messages.path))
    #expect(await record.rows.count == MessageLimit.rowsPerWrite - 1)
    _ = try await network.send(try request("/uploadDiagnosisKeys", body: "body"))
    #expect(await restarted.rows == record.rows)
    _ = try await network.send(try request("/index.txt"))
    #expect(await restarted.rows.count == MessageLimit.rowsPerWrite)
    await record.flush()
    #expect(await restarted.rows.count == MessageLimit.rowsPerWrite + 1)
  }

  @Test("A response that arrives after its batch was stored is stored as well")
  func responseAfterBatch() async throws {
    let network = network()
    for _ in 1...MessageLimit.rowsPerWrite {
      _ = try await network.send(try request("/index.txt"))
    }
    #expect(await restarted.rows.first?.status == nil)
    await record.flush()
    #expect(await restarted.rows == record.rows)
    #expect(await restarted.rows.allSatisfy { $0.status == 200 })
  }

  @Test("Rows are removed after fourteen days, beyond the limit, and on request")
  func removed() async throws {
    let network = network()
    _ = try await network.send(try request("/uploadDiagnosisKeys", body: "body"))
    clock.advance(by: 14 * 86_400)
    #expect(await record.rows.count == 1)
    clock.advance(by: 1)
    #expect(await record.rows.isEmpty)
    for _ in 0...MessageLimit.rowsMax { _ = try await network.send(try request("/index.txt")) }
    await record.flush()
    #expect(await restarted.rows.count == MessageLimit.rowsMax)
    try await record.removeAll()
    #expect(await record.rows.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: folder.messages.path))
  }

  @Test(
    "Beacons that a running phone sends are counted by day for fourteen days and joined with received ones"
  )
  func beacons() async throws {
    let radio = CountingRadio(NoRadio(isPoweredOn: true), record: record)
    let identifier = try #require(
      RollingProximityIdentifier(bytes: [UInt8](repeating: 1, count: 16)))
    let metadata = try #require(AssociatedEncryptedMetadata(bytes: [UInt8](repeating: 2, count: 4)))
    let beacon = Advertisement(identifier: identifier, metadata: metadata)
    await radio.advertise(beacon)
    #expect(await record.sentBeacons.isEmpty)
    radio.startCounting()
    let off = CountingRadio(NoRadio(isPoweredOn: false), record: record)
    off.startCounting()
    await off.advertise(beacon)
    #expect(await record.sentBeacons.isEmpty)
    for _ in 0..<3 { await radio.advertise(beacon) }
    clock.advance(by: 86_400)
    await radio.advertise(beacon)
    #expect(await restarted.sentBeacons == ["2020-09-13": 3, "2020-09-14": 1])
    let all = await PhoneMessages(
      in: record, received: [Date(timeIntervalSince1970: 1_600_041_600): 7])
    #expect(all.beacons.map(\.date) == ["2020-09-14", "2020-09-13"])
    #expect(all.beacons.map(\.sent) == [1, 3] && all.beacons.map(\.received) == [7, 0])
    clock.advance(by: 14 * 86_400)
    await radio.advertise(beacon)
    #expect(await record.sentBeacons.keys.sorted() == ["2020-09-14", "2020-09-28"])
  }
}
