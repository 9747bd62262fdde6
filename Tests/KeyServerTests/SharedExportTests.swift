// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import Logging
import PostgreSQL
import ServerStorage
import Synchronization
import TestSupport
import Testing
import World

@testable import KeyServer

/// Several processes with one database, which write their files into one folder.
@Suite("Exports of several processes", .needs(.process)) struct SharedExportTests {
  private static let signer = P256.Signing.PrivateKey()

  private let address: PostgreSQLAddress
  private let folder: TemporaryFolder
  private let clock = ManualClock(StoreScene.now)

  init() async throws {
    address = try await PrivatePostgreSQL.newPatientDatabase()
    folder = try TemporaryFolder()
  }

  /// The database as the process `holder` opens it.
  private func store(_ holder: String) -> PostgreSQLKeyStore {
    PostgreSQLKeyStore(
      address, exports: [StoreScene.export()], at: StoreScene.now, holder: holder,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  private func exporter(
    _ store: PostgreSQLKeyStore, clock: (any WallClock)? = nil, time: TrustedTime? = nil
  ) throws -> Exporter {
    let (clock, pem) = (clock ?? self.clock, Self.signer.pemRepresentation)
    return Exporter(
      store: store, folder: try ExportFolder(folder.url), exports: [StoreScene.export()],
      signers: ExportSigners { [ExportSigner(privateKeyPEM: pem, keyID: "260", keyVersion: "v1")] },
      clock: clock, time: time ?? TrustedTime(clock, store), randomness: SystemRandomness(),
      withdrawn: { [] })
  }

  /// The contents of all files in the folder, by their names.
  private func contents() throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.path($0))) })
  }

  /// Uploads the key and ends its period.
  private func upload(_ key: UInt8, to store: PostgreSQLKeyStore) async throws {
    _ = try await store.accept(
      try StoreScene.upload("\(key)", [try StoreScene.key(key, released: clock.now)]))
    clock.advance(by: 4 * StoreScene.hour)
  }

  /// The time of `clock`, with a function that is called before the read number `read`.
  private func time(
    in store: PostgreSQLKeyStore, before read: Int,
    _ work: @escaping @Sendable () async throws -> Void
  ) -> TrustedTime {
    let reads = SharedCount()
    return TrustedTime(
      clock,
      record: {
        if reads.next() == read { try await work() }
        return try await store.clockRecord()
      }, keep: { _ in })
  }

  @Test(
    "Signing again waits until another process has exported",
    .timeLimit(.minutes(Patience.minutes)))
  func waiting() async throws {
    let (store, other) = (store("a"), store("b"))
    try await upload(1, to: store)
    _ = try await self.exporter(store).exportDue()
    let first = try contents()
    let (begun, mayEnd, place) = (Gate(), Gate(), folder.url)
    let export = Task {
      try await other.exporting(into: place) {
        begun.open()
        try await mayEnd.wait()
        return true
      }
    }
    try await begun.wait()
    let exporter = try self.exporter(
      store,
      clock: PausingClock(now: clock.now) {
        mayEnd.open()
        _ = try await export.value
      })
    // A running server leaves the export to the other process.
    #expect(try await exporter.exportDue().isEmpty)
    #expect(await exporter.isWaiting)
    #expect(try contents() == first)
    #expect(try await exporter.signAgain().count == 1)
    #expect(await !exporter.isWaiting)
    #expect(try contents().keys.sorted() != first.keys.sorted())
    #expect(try await export.value == true)
  }

  @Test("Signing again and an export by command fail if another process does not end")
  func neverFree() async throws {
    let (store, other) = (store("a"), store("b"))
    try await upload(1, to: store)
    let pauses = SharedCount()
    let exporter = try self.exporter(
      store, clock: PausingClock(now: clock.now) { _ = pauses.next() })
    let result = try await other.exporting(into: folder.url) {
      await #expect(throws: KeyServerError.exportsElsewhere) { try await exporter.signAgain() }
      #expect(pauses.count == KeyServerLimit.exportWaitSeconds)
      await #expect(throws: KeyServerError.exportsElsewhere) {
        try await exporter.exportDue(waitsForOthers: true)
      }
      await #expect(throws: KeyServerError.exportsElsewhere) {
        try await exporter.removeOld(waitsForOthers: true)
      }
      return true
    }
    #expect(result == true)
    #expect(try await exporter.exportDue(waitsForOthers: true).count == 1)
  }

  /// A session whose transaction stays open between calls of `run`.
  private func session() -> PostgreSQLDatabase {
    PostgreSQLDatabase(
      address, connections: 1, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  private func run(_ statements: String..., in session: PostgreSQLDatabase) async throws {
    _ = try await session.transaction(.none) { transaction in
      for statement in statements { try transaction.run(statement) }
    }
  }

  @Test("The lease is refused at once while its holder closes a period")
  func locked() async throws {
    let (store, holder) = (store("a"), session())
    try await store.makeReady()
    try await run("BEGIN", "SELECT FROM export_lease FOR UPDATE", in: holder)
    #expect(try await store.exporting(into: folder.url) { true } == nil)
    try await run("COMMIT", in: holder)
    #expect(try await store.exporting(into: folder.url) { true } == true)
  }

  /// The lease of a process that hangs ends.
  private static func endLease(in database: PostgreSQLServerDatabase) async throws {
    try await database.transaction { transaction in
      _ = try transaction.runLast([
        PostgreSQLStatement("UPDATE export_lease SET held_until = clock_timestamp()")
      ])
    }
  }

  @Test(
    "A process that lost its lease while it wrote a file changes no file of its successor",
    .timeLimit(.minutes(Patience.minutes)))
  func overtaken() async throws {
    let (store, other) = (store("a"), store("b"))
    try await upload(1, to: store)
    let successor = try self.exporter(other)
    let published = Mutex<[String: Data]>([:])
    // The second time is that of the file, which is written and verified.
    let time = time(in: store, before: 2) {
      try await Self.endLease(in: store.database)
      #expect(try await successor.exportDue().count == 1)
      let files = try contents().filter { !$0.key.hasPrefix(".") }
      published.withLock { $0 = files }
    }
    let exporter = try self.exporter(store, time: time)
    #expect(try await exporter.exportDue().isEmpty)
    #expect(await exporter.isWaiting)
    let files = published.withLock { $0 }
    #expect(files.keys.contains { $0.hasSuffix(".zip") })
    // Neither replaced nor removed, and nothing unfinished is left.
    #expect(try contents() == files)
    #expect(try await successor.exportDue().isEmpty)
    #expect(try contents() == files)
  }

  @Test("A file that one process withdraws is not written again by another, until it is restored")
  func withdrawn() async throws {
    let (store, other) = (store("a"), store("b"))
    let exporter = try self.exporter(store)
    for key in 1...2 as ClosedRange<UInt8> {
      try await upload(key, to: store)
      #expect(try await exporter.exportDue().count == 1)
    }
    let name = try #require(try ExportFolder(folder.url).listedNames(of: "").first)
    let hash = try #require(KeyFileHash(ofFile: folder.path(name.text)))
    // The command opens the database beside the servers.
    let history = try KeyFileHistory(
      databaseFile: folder.path("keys.sqlite"), databaseAddress: address)
    try await history.setFiles([hash], areWithdrawn: true, at: clock.now)
    try await history.setFiles([hash], areWithdrawn: true, at: clock.now)
    let second = try self.exporter(other)
    #expect(try await second.signAgain().count == 1)
    #expect(try await second.exportDue().isEmpty)
    try await history.setFiles([hash], areWithdrawn: false, at: clock.now)
    #expect(try await second.exportDue().count == 1)
  }

  @Test("A withdrawal is stored until the file would have expired")
  func forgotten() async throws {
    let store = store("a")
    let hash = try #require(KeyFileHash(Data(repeating: 1, count: 32)))
    try await store.setFiles([hash], areWithdrawn: true, at: StoreScene.now)
    let end = StoreScene.now + KeyServerLimit.retentionSeconds
    try await store.removeOld(RetentionLimits(at: end - 1))
    #expect(try await store.withdrawnFiles() == [hash])
    try await store.removeOld(RetentionLimits(at: end))
    #expect(try await store.withdrawnFiles().isEmpty)
  }

  @Test("Old keys are removed later if the table is read, and uploads go on meanwhile")
  func inUse() async throws {
    let (store, reader) = (store("a"), session())
    try await upload(1, to: store)
    clock.advance(by: 20 * StoreScene.hour)
    // The next upload is in the partition of the next day.
    _ = try await self.exporter(store).exportDue()
    try await run("BEGIN", "SELECT FROM diagnosis_key", in: reader)
    let retention = RetentionLimits(at: clock.now + 30 * 24 * StoreScene.hour)
    try await store.removeOld(retention)
    #expect(try await store.read { try KeyPartition.all($0).count } == 2)
    try await upload(2, to: store)
    try await run("COMMIT", in: reader)
    try await store.removeOld(retention)
    #expect(try await store.read { try KeyPartition.all($0).count } == 1)
  }
}

/// A clock that stands still, and calls a function instead of each pause.
private struct PausingClock: WallClock {
  let now: Date
  let pause: @Sendable () async throws -> Void

  func sleep(until end: Date) async throws { try await pause() }
}

/// Counts calls.
private final class SharedCount: Sendable {
  private let value = Mutex(0)

  var count: Int { value.withLock { $0 } }

  /// The number of this call, from 1.
  func next() -> Int {
    value.withLock { value in
      value += 1
      return value
    }
  }
}
