// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import ObjectStore
import QuietHTTP
import ServerStorage
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite("Key files in an object store")
struct PublishedObjectsTests {
  private static let exports = [StoreScene.export(), StoreScene.export("PL")]

  @Test(
    "The store has what the folder has, and no index names a missing file",
    arguments: [true, false])
  func published(hasConditions: Bool) async throws {
    try await Scene.run { scene in
      if !hasConditions { await scene.server.implementNoConditions() }
      await scene.server.observe { Self.expectNoMissingFile($0) }
      await scene.server.set("other/index.txt", Data("of another program".utf8))
      let exporter = try await scene.exporter()
      for _ in 0..<3 { try await scene.export(with: exporter) }
      try await scene.expectEqual()
      let written = try await exporter.signAgain()
      #expect(written.count == 6)
      try await scene.expectEqual()
      // The first two periods expire.
      scene.clock.advance(by: KeyServerLimit.retentionSeconds - 4 * StoreScene.hour)
      try await exporter.removeOld()
      try await scene.expectEqual()
      let names = await scene.server.objects.keys
      #expect(names.count { $0.hasSuffix(".zip") } == 2 && names.contains("other/index.txt"))
      #expect(await scene.server.refusedCount == 0)
    }
  }

  /// Expects that each index names only objects that exist.
  private static func expectNoMissingFile(_ objects: [String: Data]) {
    for (index, content) in objects where index.hasPrefix("files/") && index.hasSuffix("index.txt")
    {
      for line in String(decoding: content, as: UTF8.self).split(separator: "\n") {
        #expect(objects["files/\(line)"] != nil, "\(index) names \(line)")
      }
    }
  }

  @Test(
    "A store that fails loses nothing: the index stays, and the next export completes it",
    arguments: [S3TestServer.Fault.status(403), .status(500), .truncates, .forgets],
    [".zip", "index.txt"])
  func failing(fault: S3TestServer.Fault, suffix: String) async throws {
    try await Scene.run { scene in
      let exporter = try await scene.exporter()
      try await scene.export(with: exporter)
      let index = await scene.server.objects["files/index.txt"]
      // Nothing can be said of what a truncated index names.
      let isSafe = fault != .truncates || suffix == ".zip"
      if isSafe { await scene.server.observe { Self.expectNoMissingFile($0) } }
      await scene.server.fail(fault, "PUT", of: suffix)
      for _ in 0..<2 {
        await #expect(throws: KeyServerError.self) { try await scene.export(with: exporter) }
      }
      if isSafe { #expect(await scene.server.objects["files/index.txt"] == index) }
      await scene.server.recover()
      _ = try await exporter.exportDue()
      try await scene.expectEqual()
      // All keys, each file written once.
      let lines = try scene.folder().listedNames(of: "")
      #expect(lines.count == 3 && lines.allSatisfy { $0.text.hasSuffix("-00001.zip") })
    }
  }

  @Test("A store that does not respond ends the export, which is repeated")
  func silent() async throws {
    try await Scene.run { scene in
      await scene.server.fail(.silent, "GET")
      let exporter = try await scene.exporter(timeoutSeconds: 1)
      await #expect(throws: KeyServerError.self) { try await scene.export(with: exporter) }
      await scene.server.recover()
      // On a busy machine the store may need more than the second.
      try await Patience.until {
        do { _ = try await exporter.exportDue() } catch is KeyServerError { return false }
        return true
      }
      for root in ["", "PL"] {
        #expect(try scene.folder().listedNames(of: root).count == 1, "\(root)")
      }
      try await scene.expectEqual()
    }
  }

  @Test("A process on another machine takes the files from the store, and writes none again")
  func otherMachine() async throws {
    try await Scene.run { scene in
      try await scene.export(with: try await scene.exporter())
      let before = await scene.server.objects
      let other = try await scene.exporter(in: "other")
      #expect(try await other.exportDue() == [])
      #expect(await scene.server.objects == before)
      try await scene.expectEqual(in: "other")
      // A file that the store has lost or damaged is not taken.
      let damaged = try #require(before.keys.sorted().first { $0.hasSuffix(".zip") })
      await scene.server.set(damaged, Data("damaged".utf8))
      let third = try await scene.exporter(in: "third")
      #expect(try await third.exportDue().count == 1)
      try await third.removeOld()
      try await scene.expectEqual(in: "third")
    }
  }

  @Test("An index that a late process has replaced is noticed and put right")
  func lateProcess() async throws {
    try await Scene.run { scene in
      let exporter = try await scene.exporter()
      try await scene.export(with: exporter)
      let late = await scene.server.objects["files/index.txt"]
      try await scene.export(with: exporter)
      #expect(await !exporter.isBehindObjects())
      await scene.server.set("files/index.txt", late)
      #expect(await exporter.isBehindObjects())
      _ = try await exporter.exportDue()
      try await scene.expectEqual()
    }
  }

  @Test("An object that the store truncates or loses later is written again with the same bytes")
  func repaired() async throws {
    try await Scene.run { scene in
      let exporter = try await scene.exporter()
      for _ in 0..<2 { try await scene.export(with: exporter) }
      let before = await scene.server.objects
      let files = before.keys.filter { $0.hasSuffix(".zip") }.sorted()
      await scene.server.set(files[0], before[files[0]]?.prefix(100))
      await scene.server.set(files[1], nil)
      _ = try await exporter.exportDue()
      #expect(await scene.server.objects == before)
    }
  }

  @Test(
    "A refusal of the store is a fault of the files, which /ready names until an export succeeds")
  func readiness() async throws {
    let clock = ManualClock(RunningKeyServer.start)
    try await S3TestServer.run(now: { clock.now }) { store in
      let location = try S3Location(await store.address("files"))
      try await RunningKeyServer.run(
        clock: clock,
        { $0.fileStore = KeyFileStore(location: location, credentials: Scene.credentials) }
      ) { server in
        try await server.untilIdle()
        await store.fail(.status(403), "PUT")
        _ = try await server.uploadKeys()
        clock.advance(by: 14_400)
        await #expect(throws: KeyServerError.self) { try await server.server.exportDue() }
        #expect(server.server.faults.contains { $0.contains("status 403") })
        // The result of a check is used for some seconds.
        try await Patience.until {
          let ready = try await server.get("/ready")
          return ready.status == 503
            && String(decoding: ready.body, as: UTF8.self).contains("files")
        }
        try await server.untilIdle()
        await store.recover()
        try await server.server.exportDue()
        #expect(server.server.faults.isEmpty)
        try await Patience.until { try await server.get("/ready").status == 200 }
        let line = try #require(try await server.lines().first)
        #expect(await store.objects["files/\(line)"] == (try await server.get("/\(line)").body))
      }
    }
  }

  /// A database, folders and an object store.
  private struct Scene {
    static let credentials = S3Credentials(
      accessKeyID: S3TestServer.accessKeyID, secretAccessKey: S3TestServer.secretAccessKey)

    let temporary: TemporaryFolder
    let clock: ManualClock
    let server: S3TestServer
    private let signer = P256.Signing.PrivateKey().pemRepresentation

    static func run(_ body: (Scene) async throws -> Void) async throws {
      let (folder, clock) = (try TemporaryFolder(), ManualClock(StoreScene.now))
      try await S3TestServer.run(now: { clock.now }) { server in
        try await body(Scene(temporary: folder, clock: clock, server: server))
      }
    }

    private init(temporary: TemporaryFolder, clock: ManualClock, server: S3TestServer) {
      (self.temporary, self.clock, self.server) = (temporary, clock, server)
    }

    private func store() throws -> SQLiteKeyStore {
      try SQLiteKeyStore(
        file: temporary.path("keys.sqlite"), keys: StoreScene.databaseKeys,
        exports: PublishedObjectsTests.exports, at: clock.now)
    }

    /// The folder of a process.
    func folder(_ name: String = "export") throws -> ExportFolder {
      try ExportFolder(temporary.path(name), roots: ["PL"])
    }

    /// The exporter of a process with the folder `name`.
    func exporter(
      in name: String = "export", timeoutSeconds: Int64 = Int64(Patience.seconds)
    ) async throws -> Exporter {
      let (store, folder) = (try store(), try folder(name))
      let bucket = S3Bucket(
        try S3Location(await server.address("files")), credentials: Self.credentials,
        client: .withoutRedirects, clock: clock, timeoutSeconds: timeoutSeconds, retryPauses: [])
      return Exporter(
        store: store, folder: folder, exports: PublishedObjectsTests.exports,
        signers: ExportSigners { [signer] in
          [ExportSigner(privateKeyPEM: signer, keyID: "260", keyVersion: "v1")]
        }, objects: PublishedObjects(bucket, folder: folder), clock: clock,
        time: TrustedTime(clock, store), randomness: SystemRandomness(), withdrawn: { [] })
    }

    /// Inserts a key, and exports the period with it.
    func export(with exporter: Exporter) async throws {
      let number = UInt8(clock.now.timeIntervalSince(StoreScene.now) / 14_400) + 1
      try store().insert([try StoreScene.key(number, released: clock.now)])
      clock.advance(by: 4 * StoreScene.hour)
      _ = try await exporter.exportDue()
    }

    /// Expects the files and indexes of the folder in the store, and no other files.
    func expectEqual(in name: String = "export") async throws {
      let folder = try folder(name)
      var expected: [String: Data] = [:]
      for root in ["", "PL"] {
        expected[String(KeyServerRoute.index(of: root).dropFirst())] = try folder.index(of: root)
        for name in try folder.listedNames(of: root) {
          expected[KeyFileIndex.line(name, under: root)] = try Data(
            contentsOf: folder.file(name, of: root))
        }
      }
      let stored = await server.objects.filter { $0.key.hasPrefix("files/") }
      #expect(Set(stored.keys) == Set(expected.keys.map { "files/\($0)" }))
      for (name, content) in expected {
        #expect(stored["files/\(name)"] == content, "\(name)")
      }
    }
  }
}
