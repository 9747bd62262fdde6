// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import GRDB
import KeyServer
import KeyServerAPI
import Logging
import TestSupport
import Testing
import World

@testable import KeyServer

/// A key server that listens on a free port, with its files in a temporary folder.
struct RunningKeyServer: Sendable {
  /// A UTC midnight, at which days and periods begin.
  static let midnight = Date(timeIntervalSince1970: 1_599_955_200)
  /// Noon of that day, a boundary of four-hour periods.
  static let start = midnight.addingTimeInterval(12 * 3_600)

  let authority: Authority
  let clock: ManualClock
  let folder: TemporaryFolder
  let configuration: KeyServerConfiguration
  let server: KeyServer
  let port: Int

  /// Runs `body` against a server, then stops the server.
  static func run(
    authority: Authority = Authority(), clock: ManualClock = ManualClock(start),
    folder: TemporaryFolder? = nil, log: CollectedLog? = nil,
    _ change: (inout KeyServerConfiguration) -> Void = { _ in },
    _ body: (RunningKeyServer) async throws -> Void
  ) async throws {
    let folder = try folder ?? TemporaryFolder()
    var configuration = configuration(authority: authority, folder: folder)
    change(&configuration)
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let server = try KeyServer(
      configuration, clock: clock, randomness: SystemRandomness(), logger: log?.logger ?? logger)
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

  /// Waits until the server's own export and key pull sleep, after their start or after the clock was advanced.
  func untilIdle() async throws {
    try await Patience.until { clock.sleeperCount == 2 }
  }

  static func configuration(
    authority: Authority, folder: TemporaryFolder
  ) -> KeyServerConfiguration {
    var configuration = KeyServerConfiguration(
      port: 0, databaseFile: folder.path("keys.sqlite"), databaseKey: Data(repeating: 7, count: 32),
      exportFolder: folder.path("export"),
      regions: ["PL", "CZ"], appPackages: ["pl.gov.mc.protegosafe"], tokenIssuer: "codes",
      tokenAudience: "keys",
      tokenPublicKeysPEM: ["t1": authority.tokenKey.publicKey.pemRepresentation],
      exportSigners: authority.signers, region: "PL", deviceCheck: nil,
      remoteConfiguration: RemoteConfiguration(version: 3))
    // Tests of device verification enable it again.
    configuration.deviceVerificationPlatforms = []
    configuration.minimumKeys = 20
    configuration.paddingRange = 5
    return configuration
  }
}

/// A response of the server.
struct ReceivedResponse: Sendable {
  let status: UInt
  /// Header values by lower-case name.
  let headers: [String: String]
  let body: Data

  /// The `status` of an error of the ProteGO Safe contract.
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
  /// `count` keys of whole days; the newest ended at the last midnight.
  func keys(_ count: Int = 14, risk: Int? = 8) -> [UploadKey] {
    let today = UInt32(clock.now.timeIntervalSince1970 / 86_400) * 144
    return (1...count).map { day in
      UploadKey(
        key: Data(SystemRandomness().bytes(16)).base64EncodedString(),
        rollingStartNumber: today - UInt32(day) * 144, transmissionRisk: risk)
    }
  }

  /// A valid request, which `change` may modify.
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
  ) async throws -> ReceivedResponse {
    try await post(JSONEncoder().encode(request), headers: headers)
  }

  func post(
    _ body: Data, to path: String = KeyServerRoute.upload, type: String = "application/json",
    headers: [(String, String)] = []
  ) async throws -> ReceivedResponse {
    try await send(
      "POST", path, headers: [("content-type", type)] + headers, body: body)
  }

  func get(_ path: String, headers: [(String, String)] = []) async throws -> ReceivedResponse {
    try await send("GET", path, headers: headers)
  }

  private func send(
    _ method: String, _ path: String, headers: [(String, String)], body: Data? = nil
  ) async throws -> ReceivedResponse {
    let response = try await LoopbackClient.send(
      method, "http://127.0.0.1:\(port)\(path)", headers: headers, body: body)
    return ReceivedResponse(
      status: UInt(response.status), headers: response.headers, body: response.body)
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

  /// The keys of a file that is downloaded and verified with one of the authority's keys.
  func downloadedKeys(
    _ name: KeyFileName, by signer: Int = 0
  ) async throws -> (keys: [DiagnosisKey], header: KeyFileHeader) {
    let response = try await get(KeyServerRoute.keyFile(name))
    #expect(response.status == 200)
    let file = folder.path("download-\(UUID().uuidString).zip")
    try response.body.write(to: file)
    var keys: [DiagnosisKey] = []
    let verified = try UnverifiedKeyFile(at: file).verified(
      by: [verificationKeys[signer]], batchSize: 100
    ) { keys += $0.keys }
    return (keys, verified.facts.header)
  }

  /// The file names in the index.
  func listed() async throws -> [KeyFileName] {
    let response = try await get(KeyServerRoute.index)
    #expect(response.status == 200)
    return KeyFileIndex.parse(String(decoding: response.body, as: UTF8.self)).names
  }

  /// The result of a query for a number.
  func count(_ sql: String) throws -> Int {
    try inDatabase { try Int.fetchOne($0, sql: sql) ?? 0 }
  }

  /// Runs `body` in a transaction of another connection.
  func inDatabase<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let queue = try DatabaseQueue(waitingAt: configuration.databaseFile.path)
    return try queue.write(body)
  }
}

/// The content of a downloaded key file.
struct PublishedFile {
  var keys: [DiagnosisKey] = []
  var revisedKeys: [DiagnosisKey] = []
  var signatures: [String] = []

  /// The keys in Base64, as in an upload.
  var texts: Set<String> { Set(keys.map(\.text)) }
}

extension DiagnosisKey {
  /// The bytes in Base64, as in an upload.
  var text: String { Data(key.secretBytes).base64EncodedString() }
}

extension RunningKeyServer {
  /// The lines of the index of the export `root`.
  func lines(of root: String = "") async throws -> [String] {
    let response = try await get(KeyServerRoute.index(of: root))
    #expect(response.status == 200)
    return String(decoding: response.body, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// The file of an index line, verified with one of the authority's keys.
  func published(_ line: String, by signer: Int = 0) async throws -> PublishedFile {
    let response = try await get("/" + line)
    #expect(response.status == 200, "\(line)")
    let file = folder.path("download-\(UUID().uuidString).zip")
    try response.body.write(to: file)
    var published = PublishedFile()
    let verified = try UnverifiedKeyFile(at: file).verified(
      by: [verificationKeys[signer]], batchSize: 100
    ) { batch in
      if batch.areRevised {
        published.revisedKeys += batch.keys
      } else {
        published.keys += batch.keys
      }
    }
    published.signatures = verified.facts.signatures.map(\.verificationKeyVersion)
    return published
  }

  /// Every file of the export `root`, oldest first.
  func allPublished(of root: String = "") async throws -> [PublishedFile] {
    var files: [PublishedFile] = []
    for line in try await lines(of: root) { files.append(try await published(line)) }
    return files
  }

  /// Uploads new keys of these regions and returns them in Base64.
  func uploadKeys(
    _ count: Int = 3, regions: [String] = ["PL"], travels: Bool = false
  ) async throws -> Set<String> {
    let keys = keys(count)
    let request = try await request(keys) {
      $0.data.regions = regions
      $0.isInteroperabilityEnabled = travels
    }
    #expect(try await upload(request).status == 200)
    return Set(keys.map(\.key))
  }

  /// Advances the clock by a period and exports.
  func exportPeriod(seconds: TimeInterval = 14_400) async throws {
    clock.advance(by: seconds)
    try await server.exportDue()
  }

  /// Changes the database in a transaction of another connection.
  func change(_ sql: String, _ arguments: StatementArguments = []) throws {
    try inDatabase { try $0.execute(sql: sql, arguments: arguments) }
  }

  /// The listed files that have the period of `name`, whatever their edition.
  func editions(of name: KeyFileName) async throws -> [KeyFileName] {
    try await listed().filter {
      ($0.startTimestamp, $0.endTimestamp) == (name.startTimestamp, name.endTimestamp)
    }
  }

  /// The files in the index of the folder of an export that is not served any more.
  func folderIndex(of root: String) throws -> [String] {
    let index = configuration.exportFolder.appendingPathComponent("\(root)/index.txt")
    return try String(contentsOf: index, encoding: .utf8).split(separator: "\n").map {
      String($0.dropFirst(root.count + 1))
    }
  }

  /// Removes every key file from the export folder.
  func loseFiles() throws {
    for file in FileManager.default.enumerator(
      at: configuration.exportFolder, includingPropertiesForKeys: nil)?.allObjects ?? []
    {
      // The server's own export may be writing a temporary file.
      if let url = file as? URL, KeyFileName(url.lastPathComponent) != nil {
        try FileManager.default.removeItem(at: url)
      }
    }
  }

  /// Puts a folder in the place of a file, so that the file can be neither read nor written.
  func replaceByFolder(_ file: URL) async throws {
    // The server's own export may write the file between the two calls.
    try await Patience.until {
      try? FileManager.default.removeItem(at: file)
      return
        (try? FileManager.default.createDirectory(
          at: file, withIntermediateDirectories: false)) != nil
    }
  }
}

typealias Answer = ReceivedResponse
