// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Logging
import PostgreSQL
import ServerStorage
import Synchronization
import TestSupport
import Testing

@testable import KeyServer

/// The loss of the primary under load, with a synchronous standby.
@Suite("Key store: failover", .needs(.process)) struct FailoverTests {
  /// The keys of acknowledged uploads, by the numbers in their bytes.
  private final class Acknowledged: Sendable {
    let numbers = Mutex<Set<UInt32>>([])
    let isStopped = Atomic<Bool>(false)

    var count: Int { numbers.withLock { $0.count } }
  }

  private static func key(_ number: UInt32) throws -> PublishableKey {
    let bytes = withUnsafeBytes(of: number.bigEndian) { Array($0) }
    return try StoreScene.key(
      bytes: bytes + Array(repeating: 7, count: 12), .confirmedTest, regions: ["PL"],
      travels: false, released: StoreScene.now)
  }

  /// Uploads one key after the other until it is stopped. An upload that fails is repeated with the same token, as
  /// phones do.
  private static func upload(
    by store: PostgreSQLKeyStore, from first: UInt32, _ acknowledged: Acknowledged
  ) async throws {
    var number = first
    while !acknowledged.isStopped.load(ordering: .relaxed) {
      let upload = try StoreScene.upload("\(number)", [try key(number)])
      do {
        guard case .accepted = try await store.accept(upload) else {
          Issue.record("upload \(number) was rejected")
          return
        }
        acknowledged.numbers.withLock { _ = $0.insert(number) }
        number += 1
      } catch is KeyServerError {
        // The server would answer 503.
      }
    }
  }

  @Test(
    "After the loss of the primary uploads go on at the standby, and each acknowledged key is exported once",
    .timeLimit(.minutes(Patience.minutes)))
  func promoted() async throws {
    let primary = try await PrivatePostgreSQL()
    let standby = try await PrivatePostgreSQL(follow: primary)
    let address = try PostgreSQLAddress(primary.address(or: standby))
    let export = StoreScene.export()
    // Two processes.
    let stores = (0..<2).map { number in
      PostgreSQLKeyStore(
        address, exports: [export], at: StoreScene.now, process: Int16(number),
        holder: "\(number)", logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }
    let acknowledged = Acknowledged()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          try await Self.upload(
            by: stores[number % 2], from: UInt32(number) * 1_000_000, acknowledged)
        }
      }
      try await Patience.until { acknowledged.count > 200 }
      try await primary.kill()
      try await standby.promote()
      let before = acknowledged.count
      try await Patience.until { acknowledged.count > before + 200 }
      acknowledged.isStopped.store(true, ordering: .relaxed)
      try await group.waitForAll()
    }
    let exported = try await Self.exported(by: stores[0])
    #expect(exported.count == Set(exported).count)
    let lost = acknowledged.numbers.withLock { $0.subtracting(exported) }
    #expect(lost.isEmpty)
  }

  /// - Parameter isPatient: True for a test without limits of time.
  private static func store(
    at address: String, isPatient: Bool = false
  ) throws -> PostgreSQLKeyStore {
    var address = try PostgreSQLAddress(address)
    if isPatient { address.timeFactor = 20 }
    return PostgreSQLKeyStore(
      address, exports: [StoreScene.export()], at: StoreScene.now,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  /// Accepts an upload, which is repeated if the database has not answered in time.
  private static func accept(_ upload: AdmittedUpload, _ store: PostgreSQLKeyStore) async throws {
    try await Patience.until {
      do {
        guard case .accepted = try await store.accept(upload) else {
          Issue.record("the upload was rejected")
          return true
        }
        return true
      } catch is KeyServerError { return false }
    }
  }

  /// The numbers of the keys in the file of the first period.
  private static func exported(by store: PostgreSQLKeyStore) async throws -> [UInt32] {
    let plan = ClosingPlan(
      end: StoreScene.now + 4 * StoreScene.hour,
      periods: [.init(export: StoreScene.export(), start: StoreScene.now, minimumKeys: 0)],
      randomness: TestRandomness(seed: 1))
    let batches = try await store.close(plan)
    return try await store.withKeys(of: try #require(batches.first)) { keys in
      var numbers: [UInt32] = []
      try keys.forEach { key, _ in
        numbers.append(key.key.secretBytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
      }
      return numbers
    }
  }

  @Test(
    "An upload to a database that hangs fails at its deadline, and is stored once when it goes on",
    .timeLimit(.minutes(Patience.minutes)))
  func hanging() async throws {
    let server = try await PrivatePostgreSQL()
    let store = try Self.store(at: server.address())
    try await Self.accept(try StoreScene.upload("1", [try Self.key(1)]), store)
    server.signalAll(SIGSTOP)
    let upload = try StoreScene.upload("2", [try Self.key(2)])
    let error = await #expect(throws: KeyServerError.self) { try await store.accept(upload) }
    server.signalAll(SIGCONT)
    guard case .unreachableDatabase = error else {
      Issue.record("\(error.debugDescription)")
      return
    }
    try await Self.accept(upload, store)
    #expect(try await Self.exported(by: store) == [1, 2])
  }

  @Test("Uploads to a full disk fail, and go on when there is space", .needs(.smallDisk))
  func full() async throws {
    let disk = try SmallDisk(bytes: 48 << 20)
    let server = try await PrivatePostgreSQL()
    let store = try Self.store(
      at: try await server.createDatabase(on: disk), isPatient: true)
    _ = try await store.accept(try StoreScene.upload("0", [try Self.key(0)]))
    let ballast = disk.fill()
    var stored: [UInt32] = [0]
    var failure: KeyServerError?
    for number in UInt32(1)..<2_000 where failure == nil {
      do {
        _ = try await store.accept(try StoreScene.upload("\(number)", [try Self.key(number)]))
        stored.append(number)
      } catch let error as KeyServerError { failure = error }
    }
    guard case .unreachableDatabase(let message) = failure else {
      Issue.record("\(failure.debugDescription)")
      return
    }
    #expect(message.contains("53100"))
    try FileManager.default.removeItem(at: ballast)
    let last = UInt32(stored.count)
    _ = try await store.accept(try StoreScene.upload("\(last)", [try Self.key(last)]))
    #expect(try await Self.exported(by: store) == stored + [last])
  }

  @Test(
    "Only one process exports; one whose lease has ended closes and records nothing",
    .timeLimit(.minutes(Patience.minutes)))
  func fenced() async throws {
    let address = try await PrivatePostgreSQL.newPatientDatabase()
    let export = StoreScene.export()
    let stores = ["a", "b"].map { holder in
      PostgreSQLKeyStore(
        address, exports: [export], at: StoreScene.now, holder: holder,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }
    _ = try await stores[0].accept(try StoreScene.upload("t", [try StoreScene.key(1)]))
    let plan = ClosingPlan(
      end: StoreScene.now + 4 * StoreScene.hour,
      periods: [.init(export: export, start: StoreScene.now, minimumKeys: 0)],
      randomness: TestRandomness(seed: 1))
    let database = stores[0].database
    let folder = try TemporaryFolder()
    let result = try await stores[0].exporting(into: folder.url) { () -> Int in
      // Another process is refused.
      #expect(try await stores[1].exporting(into: folder.url) { true } == nil)
      // The lease of a process that hangs ends.
      try await database.transaction { transaction in
        _ = try transaction.runLast([
          PostgreSQLStatement("UPDATE export_lease SET held_until = clock_timestamp()")
        ])
      }
      let batches = try await stores[1].exporting(into: folder.url) {
        try await stores[1].close(plan)
      }
      #expect(batches?.count == 1)
      return try await stores[0].close(plan).count
    }
    #expect(result == nil)
    #expect(try await stores[0].batches().count == 1)
    #expect(try await stores[0].exporting(into: folder.url) { true } == true)
  }
}
