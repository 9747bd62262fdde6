import AsyncHTTPClient
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import GRDB
import KeyServerAPI
import Logging
import NIOCore
import NIOHTTP1
import TestSupport
import Testing
import World

@testable import KeyServer

/// A key server that really listens, on a free port, with its files in a folder that goes away.
struct RunningKeyServer: Sendable {
  /// A UTC midnight, so that whole days and periods begin here.
  static let midnight = Date(timeIntervalSince1970: 1_599_955_200)
  /// Noon of that day: in the middle of nothing, on the edge of a four-hour period.
  static let start = midnight.addingTimeInterval(12 * 3_600)

  let authority: Authority
  let clock: TestClock
  let folder: TemporaryFolder
  let configuration: KeyServerConfiguration
  let server: KeyServer
  let port: Int

  /// Runs `body` against a server, and stops the server.
  static func run(
    authority: Authority = Authority(), clock: TestClock = TestClock(start),
    folder: TemporaryFolder? = nil, _ change: (inout KeyServerConfiguration) -> Void = { _ in },
    _ body: (RunningKeyServer) async throws -> Void
  ) async throws {
    let folder = try folder ?? TemporaryFolder()
    var configuration = configuration(authority: authority, folder: folder)
    change(&configuration)
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let server = try KeyServer(
      configuration, clock: clock, randomness: SystemRandomness(), logger: logger)
    let running = Task { try await server.run() }
    let result: Result<Void, any Error>
    do {
      let running = RunningKeyServer(
        authority: authority, clock: clock, folder: folder, configuration: configuration,
        server: server, port: await server.boundPort)
      result = .success(try await body(running))
    } catch {
      result = .failure(error)
    }
    running.cancel()
    _ = await running.result
    try result.get()
  }

  static func configuration(
    authority: Authority, folder: TemporaryFolder
  ) -> KeyServerConfiguration {
    var configuration = KeyServerConfiguration(
      port: 0, databaseFile: folder.path("keys.sqlite"), exportFolder: folder.path("export"),
      regions: ["PL", "CZ"], appPackages: ["pl.gov.mc.protegosafe"], tokenIssuer: "codes",
      tokenAudience: "keys",
      tokenPublicKeysPEM: ["t1": authority.tokenKey.publicKey.pemRepresentation],
      exportSigners: authority.signers, region: "PL", deviceCheck: nil,
      remoteConfiguration: RemoteConfiguration(version: 3))
    // A test that is about them switches them on again.
    configuration.deviceVerificationPlatforms = []
    configuration.minimumKeys = 20
    configuration.paddingRange = 5
    return configuration
  }
}

/// What came back.
struct Answer: Sendable {
  let status: UInt
  /// By lower-case name.
  let headers: [String: String]
  let body: Data

  /// The `status` of an error, as the seed contract names it.
  var errorStatus: String? {
    let json = try? JSONSerialization.jsonObject(with: body) as? [String: Any]
    return (json?["error"] as? [String: Any])?["status"] as? String
  }

  /// The `result` of a success.
  var result: String? {
    (try? JSONSerialization.jsonObject(with: body) as? [String: Any])?["result"] as? String
  }
}

extension RunningKeyServer {
  /// `count` keys of whole days, the newest ended at midnight before the clock's day.
  func keys(_ count: Int = 14, risk: Int? = 8) -> [UploadKey] {
    let today = UInt32(clock.now.timeIntervalSince1970 / 86_400) * 144
    return (1...count).map { day in
      UploadKey(
        key: Data(SystemRandomness().bytes(16)).base64EncodedString(),
        rollingStartNumber: today - UInt32(day) * 144, transmissionRisk: risk)
    }
  }

  /// A request that is all right, unless `change` makes it otherwise.
  func request(
    _ keys: [UploadKey], token: String? = nil, _ change: (inout UploadRequest) -> Void = { _ in }
  ) async throws -> UploadRequest {
    let issued = try await authority.token(at: clock.now)
    var request = UploadRequest(
      data: UploadPayload(
        temporaryExposureKeys: keys, regions: ["PL"], platform: "ios",
        appPackageName: "pl.gov.mc.protegosafe", verificationPayload: token ?? issued))
    change(&request)
    return request
  }

  @discardableResult
  func upload(
    _ request: UploadRequest, headers: [(String, String)] = []
  ) async throws -> Answer {
    try await post(JSONEncoder().encode(request), headers: headers)
  }

  func post(
    _ body: Data, to path: String = KeyServerRoute.upload, type: String = "application/json",
    headers: [(String, String)] = []
  ) async throws -> Answer {
    var request = HTTPClientRequest(url: url(path))
    request.method = .POST
    request.headers.add(name: "content-type", value: type)
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    request.body = .bytes(ByteBuffer(bytes: body))
    return try await answer(request)
  }

  func get(_ path: String, headers: [(String, String)] = []) async throws -> Answer {
    var request = HTTPClientRequest(url: url(path))
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    return try await answer(request)
  }

  private func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  private func answer(_ request: HTTPClientRequest) async throws -> Answer {
    let response = try await HTTPClient.shared.execute(
      request, timeout: .seconds(Int64(Patience.seconds)))
    let body = try await response.body.collect(upTo: 64 << 20)
    return Answer(
      status: response.status.code,
      headers: Dictionary(
        response.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $1 }),
      body: Data(body.readableBytesView))
  }
}

extension RunningKeyServer {
  var verificationKeys: [VerificationPublicKey] {
    get throws {
      try authority.exportKeys.enumerated().map { number, key in
        try VerificationPublicKey(
          keyID: "260", keyVersion: "v\(number + 1)",
          publicKeyPEM: key.publicKey.pemRepresentation)
      }
    }
  }

  /// The keys of a file as a phone gets it: over HTTP, verified with one of the authority's keys.
  func downloadedKeys(
    _ name: KeyFileName, by signer: Int = 0
  ) async throws -> (keys: [DiagnosisKey], header: KeyFileHeader) {
    let answer = try await get(KeyServerRoute.keyFile(name))
    #expect(answer.status == 200)
    let file = folder.path("download-\(UUID().uuidString).zip")
    try answer.body.write(to: file)
    var keys: [DiagnosisKey] = []
    let verified = try UnverifiedKeyFile(at: file).verified(
      by: [verificationKeys[signer]], batchSize: 100
    ) { keys += $0.keys }
    return (keys, verified.facts.header)
  }

  /// The names that the index lists, as a phone reads it.
  func listed() async throws -> [KeyFileName] {
    let answer = try await get(KeyServerRoute.index)
    #expect(answer.status == 200)
    return KeyFileIndex.parse(String(decoding: answer.body, as: UTF8.self)).names
  }

  /// A number out of the database, as an operator would look it up; keys that wait are sorted in before.
  func count(_ sql: String) throws -> Int {
    try inDatabase { try Int.fetchOne($0, sql: sql) ?? 0 }
  }

  /// Does something in a transaction of another process's, after the keys that wait are sorted in.
  func inDatabase<Result>(_ body: (Database) throws -> Result) throws -> Result {
    var patient = Configuration()
    patient.busyMode = .timeout(TimeInterval(Patience.seconds))
    let queue = try DatabaseQueue(path: configuration.databaseFile.path, configuration: patient)
    return try queue.write { db in
      try WaitingKeys(db: db).sortIn()
      return try body(db)
    }
  }
}
