// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import Logging
import PostgreSQL
import ServerStorage
import TestSupport
import Testing
import UploadToken
import World

@testable import KeyServer

/// A key database without a server around it.
struct StoreScene: Sendable {
  /// Noon, a boundary of four-hour periods.
  static let now = RunningKeyServer.start
  static let hour: TimeInterval = 3_600
  /// Those of `RunningKeyServer`.
  static let databaseKeys = DatabaseKeys(Data(repeating: 7, count: 32))

  let folder: TemporaryFolder
  let open: StoreImplementation.Opening
  let exports: [ExportConfiguration]
  let store: any KeyStore
  let randomness: any Randomness

  init(
    _ implementation: StoreImplementation, exports: [ExportConfiguration] = [Self.export()],
    randomness: any Randomness = SystemRandomness()
  ) async throws {
    folder = try TemporaryFolder()
    open = try await implementation.database(in: folder)
    self.exports = exports
    self.randomness = randomness
    store = try await open(exports, Self.now)
  }

  /// An export without padding.
  static func export(
    _ root: String = "", _ regions: Set<String> = ["PL"], hours: Int = 4, minimum: Int = 0
  ) -> ExportConfiguration {
    var export = ExportConfiguration(filenameRoot: root, region: "PL", inputRegions: regions)
    (export.minimumKeys, export.paddingRange) = (minimum, 0)
    export.periodSeconds = hours * 3_600
    return export
  }

  /// A key of 16 times `byte`.
  static func key(
    _ byte: UInt8, _ type: ReportType? = .confirmedClinicalDiagnosis, regions: [String] = ["PL"],
    travels: Bool = false, released: Date = Self.now
  ) throws -> PublishableKey {
    try key(
      bytes: Array(repeating: byte, count: 16), type, regions: regions, travels: travels,
      released: released)
  }

  static func key(
    bytes: [UInt8], _ type: ReportType?, regions: [String], travels: Bool, released: Date
  ) throws -> PublishableKey {
    let start = try #require(IntervalNumber(now)).startOfDay.rawValue - 144 * 2
    let key = try #require(
      TemporaryExposureKey(bytes: bytes, rollingStart: IntervalNumber(rawValue: start)))
    let known = try #require(
      DiagnosisKey(
        key: key, transmissionRiskLevel: UInt8(type?.rawValue ?? 0), reportType: type,
        daysSinceOnsetOfSymptoms: Int32(bytes[0] % 5)))
    return PublishableKey(key: known, regions: regions, travels: travels, releasedAt: released)
  }

  /// An upload of `keys` with the token ID `token`.
  static func upload(
    _ token: String, _ keys: [PublishableKey], revising: Set<TemporaryExposureKey>? = nil,
    issuer: String = "codes", platform: UploadPlatform = .ios, at now: Date = Self.now,
    expires: Date? = nil,
    response: @escaping @Sendable (StoredUploadCounts) throws -> Data = { Data("\($0)".utf8) }
  ) throws -> AdmittedUpload {
    try AdmittedUpload(
      token: UsedToken(
        UploadGrant(tokenID: token, issuedAt: now, expiresAt: expires ?? now + 1_800),
        issuer: issuer, at: now, keys: Self.databaseKeys),
      digest: Data(SHA256.hash(data: keys.reduce(into: Data(token.utf8)) { $0 += $1.bytes })),
      keys: keys,
      revision: revising.map { .token(.valid(RevisionToken($0)), allowsPartial: false) }
        ?? .leaveKnown,
      facts: UploadStatistics(
        issuer: issuer, tokenIssuedAt: now, platform: platform, onset: SymptomOnset(nil, at: now),
        keys: keys, at: now),
      response: response)
  }

  /// Stores an upload of `keys`; records an issue if it is rejected.
  @discardableResult
  func accept(
    _ keys: [PublishableKey], revising: Bool = false, at now: Date = Self.now
  ) async throws -> Acceptance {
    let acceptance = try await store.accept(
      try Self.upload(
        UUID().uuidString, keys, revising: revising ? Set(keys.map(\.key.key)) : nil, at: now))
    if case .accepted = acceptance { return acceptance }
    Issue.record("rejected: \(acceptance)")
    return acceptance
  }

  /// Closes all periods that ended by `now`, as the exporter does.
  @discardableResult
  func close(
    at now: Date, _ exports: [ExportConfiguration]? = nil
  ) async throws -> [Batch] {
    var closed: [Batch] = []
    while let plan = ClosingPlan(
      for: exports ?? self.exports, after: try await store.exportProgress(), at: now,
      randomness: randomness)
    {
      closed += try await store.close(plan)
    }
    return closed
  }

  /// The content of a file.
  struct File: Hashable, Sendable {
    var keys: [DiagnosisKey] = []
    var revised: [DiagnosisKey] = []

    /// The first byte of each key, which identifies it in most tests.
    var names: [UInt8] { keys.map { $0.key.secretBytes[0] } }
    var revisedNames: [UInt8] { revised.map { $0.key.secretBytes[0] } }
  }

  func file(_ batch: Batch) async throws -> File {
    try await store.withKeys(of: batch) { keys in
      var file = File()
      try keys.forEach { key, kind in
        if kind == .revised { file.revised.append(key) } else { file.keys.append(key) }
      }
      return file
    }
  }

  /// The files of one export, oldest first.
  func files(of root: String = "") async throws -> [File] {
    var files: [File] = []
    for batch in try await store.batches() where batch.export == root {
      files.append(try await file(batch))
    }
    return files
  }

  /// The sums of the counts of all hours.
  func counts(
    _ kind: StatisticKind, of issuer: String = "codes", from start: Int64 = 0
  ) async throws -> [Int: Int] {
    try await store.statistics(of: issuer, from: start).filter { $0.place.kind == kind }
      .reduce(into: [:]) { $0[$1.place.bucket, default: 0] += $1.count }
  }
}

/// The implementations of `KeyStore` that the suites test.
enum StoreImplementation: CaseIterable {
  case sqlite, memory, postgresql

  /// PostgreSQL is left out if no other process may be started.
  static var allCases: [StoreImplementation] {
    [.sqlite, .memory] + (PrivatePostgreSQL.isAvailable ? [.postgresql] : [])
  }

  typealias Opening =
    @Sendable (_ exports: [ExportConfiguration], _ now: Date) async throws -> any KeyStore

  /// Returns a function that opens the database in `folder`; every call opens the same database.
  func database(in folder: TemporaryFolder) async throws -> Opening {
    switch self {
    case .sqlite:
      return {
        try SQLiteKeyStore(file: folder.path("keys.sqlite"), exports: $0, at: $1)
      }
    case .memory:
      let store = MemoryKeyStore()
      return { exports, now in
        store.begin(exports, at: now)
        return store
      }
    case .postgresql:
      let address = try await PrivatePostgreSQL.newPatientDatabase()
      return {
        let store = PostgreSQLKeyStore(
          address, exports: $0, at: $1,
          logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await store.database.makeReady()
        return store
      }
    }
  }
}
