// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import GRDB
import KeyServerAPI
import ServerStorage
import Synchronization
import TestSupport
import Testing
import World

@testable import KeyServer

/// A withdrawn file has the keys 1, another one the keys 2, each in two exports.
@Suite("Withdrawn files")
struct WithdrawnFileTests {
  private static let exports = [StoreScene.export(), StoreScene.export("PL")]
  private static let signer = P256.Signing.PrivateKey()

  private let folder: TemporaryFolder
  private let withdrawn = Withdrawals()
  private let clock = ManualClock(StoreScene.now)

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The exporter of the database and the files in `place`.
  private func exporter(
    in place: URL, clock: (any WallClock)? = nil, exports: [ExportConfiguration] = Self.exports
  ) throws -> Exporter {
    let (clock, pem) = (clock ?? self.clock, Self.signer.pemRepresentation)
    let store = try store(in: place)
    return Exporter(
      store: store, folder: try exportFolder(in: place), exports: exports,
      signers: ExportSigners { [ExportSigner(privateKeyPEM: pem, keyID: "260", keyVersion: "v1")] },
      clock: clock, time: TrustedTime(clock, store), randomness: SystemRandomness(),
      withdrawn: { [withdrawn] in withdrawn.hashes })
  }

  private func store(in place: URL) throws -> SQLiteKeyStore {
    try SQLiteKeyStore(
      file: place.appendingPathComponent("keys.sqlite"), keys: StoreScene.databaseKeys,
      exports: Self.exports, at: clock.now)
  }

  private func exportFolder(in place: URL) throws -> ExportFolder {
    try ExportFolder(place.appendingPathComponent("export"), roots: ["PL"])
  }

  /// The files of all indexes.
  private func listed(in place: URL) throws -> [URL] {
    let folder = try exportFolder(in: place)
    return try ["", "PL"].flatMap { root in
      // The lines of a root begin with it.
      let lines = String(decoding: try folder.index(of: root), as: UTF8.self)
        .replacing("\(root)/", with: "")
      return KeyFileIndex.parse(lines).names.map { folder.file($0, of: root) }
    }
  }

  /// The first bytes of the keys in the listed files.
  private func published(in place: URL) throws -> [UInt8] {
    let key = try VerificationPublicKey(
      keyID: "260", keyVersion: "v1", publicKeyPEM: Self.signer.publicKey.pemRepresentation)
    return try listed(in: place).flatMap { file in
      var bytes: [UInt8] = []
      _ = try UnverifiedKeyFile(at: file).verified(by: [key], batchSize: 100) {
        bytes += $0.keys.compactMap(\.key.secretBytes.first)
      }
      return bytes
    }
  }

  /// Writes the files, and withdraws the first one of each export.
  private func publish(in place: URL) async throws {
    let (store, exporter) = (try store(in: place), try exporter(in: place))
    for byte in 1...2 as ClosedRange<UInt8> {
      try store.insert([try StoreScene.key(byte, released: clock.now)])
      clock.advance(by: 4 * StoreScene.hour)
      #expect(try await exporter.exportDue().count == 2)
    }
    #expect(try published(in: place) == [1, 2, 1, 2])
    let first = try names(in: place)[0]
    for file in try listed(in: place) where file.lastPathComponent == first {
      withdrawn.add(try #require(KeyFileHash(ofFile: file)))
    }
    #expect(withdrawn.hashes.count == 2)
  }

  private func names(in place: URL) throws -> [String] {
    try listed(in: place).map(\.lastPathComponent)
  }

  @Test("Each hash of a file that was written again twice finds all of them, and no others")
  func history() async throws {
    try await publish(in: folder.url)
    withdrawn.clear()
    var hashes: [[String: KeyFileHash]] = []
    for round in 1...3 {
      if round > 1 { _ = try await exporter(in: folder.url).signAgain() }
      hashes.append(
        try Dictionary(
          uniqueKeysWithValues: listed(in: folder.url).map { file in
            let export = file.deletingLastPathComponent().lastPathComponent
            // The name without the edition.
            let period = file.lastPathComponent.prefix(21)
            return ("\(export) \(period)", try #require(KeyFileHash(ofFile: file)))
          }))
    }
    let history = try KeyFileHistory(databaseFile: folder.url.appendingPathComponent("keys.sqlite"))
    for key in hashes[0].keys {
      let all = Set(hashes.compactMap { $0[key] })
      #expect(all.count == 3)
      for hash in all { #expect(try await history.editions(ofFilesWith: [hash]) == all) }
    }
    #expect(try await history.editions(ofFilesWith: []) == [])
  }

  @Test(
    "Files of periods before a restoration get names that they have not had, each time",
    arguments: [(0, 2), (10 * 3_600, 40), (13 * 86_400, 40)])
  func namesAfterRestoration(age: Int, seconds: Int) async throws {
    let (store, exporter) = (try store(in: folder.url), try exporter(in: folder.url))
    let backup = folder.path("backup.sqlite")
    try store.insert([try StoreScene.key(1, released: clock.now)])
    try await store.database.pool.writeWithoutTransaction {
      try $0.execute(sql: "VACUUM INTO ?", arguments: [backup.path])
    }
    clock.advance(by: 4 * StoreScene.hour)
    #expect(try await exporter.exportDue().count == 2)
    var names = Set(try self.names(in: folder.url))
    _ = try await exporter.signAgain()
    names.formUnion(try self.names(in: folder.url))
    clock.advance(by: TimeInterval(age))
    for round in 1...3 {
      // The backup does not know of the files.
      let place = folder.path("restored \(round)")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      let database = place.appendingPathComponent("keys.sqlite")
      try FileManager.default.copyItem(at: backup, to: database)
      clock.advance(by: TimeInterval(seconds))
      try ServerState.confirm(clock.now, in: database, schema: KeyServer.databaseSchema)
      let restored = try self.exporter(in: place)
      #expect(try await restored.exportDue().count == 2)
      for isAgain in [false, true] {
        if isAgain { _ = try await restored.signAgain() }
        let new = try self.names(in: place)
        #expect(new.count == 2 && names.isDisjoint(with: new), "\(new)")
        names.formUnion(new)
      }
    }
  }

  @Test(
    "Signing again removes a withdrawn file, also the second time, and a restored one is written")
  func signedAgain() async throws {
    try await publish(in: folder.url)
    let exporter = try exporter(in: folder.url)
    let earlier = try listed(in: folder.url)
    for round in 2...3 {
      #expect(try await exporter.signAgain().count == 2)
      #expect(try published(in: folder.url) == [2, 2])
      #expect(try names(in: folder.url).allSatisfy { $0.hasSuffix("-0000\(round).zip") })
      #expect(!earlier.contains { FileManager.default.fileExists(atPath: $0.path) })
      _ = try await exporter.exportDue()
      try await exporter.removeOld()
      #expect(try published(in: folder.url) == [2, 2])
    }
    withdrawn.clear()
    #expect(try await exporter.exportDue().count == 2)
    #expect(try published(in: folder.url) == [1, 2, 1, 2])
  }

  @Test(
    "A withdrawn file that is damaged or missing is neither written again nor listed",
    arguments: [true, false])
  func damaged(isMissing: Bool) async throws {
    try await publish(in: folder.url)
    for file in try listed(in: folder.url) {
      var bytes = try Data(contentsOf: file)
      bytes[bytes.count / 3] ^= 1
      if isMissing {
        try FileManager.default.removeItem(at: file)
      } else {
        try bytes.write(to: file)
      }
    }
    let exporter = try exporter(in: folder.url)
    for _ in 0..<2 {
      _ = try await exporter.exportDue()
      #expect(try published(in: folder.url) == [2, 2])
      try await exporter.removeOld()
      #expect(try published(in: folder.url) == [2, 2])
      #expect(await !exporter.hasLostFiles())
    }
  }

  @Test(
    "A file that is withdrawn while all are signed again, or under an earlier hash later, is not listed",
    arguments: [true, false])
  func withdrawnWhileSigning(isDuring: Bool) async throws {
    try await publish(in: folder.url)
    let first = try #require(try listed(in: folder.url).first)
    let hash = try #require(KeyFileHash(ofFile: first))
    withdrawn.clear()
    let reads = Mutex(0)
    withdrawn.observe { [withdrawn] in
      let isSecond = reads.withLock { count in
        count += 1
        return count == 2
      }
      // The second read is for the second file, after the first one was written.
      if isDuring, isSecond { withdrawn.add(hash) }
    }
    let exporter = try exporter(in: folder.url)
    #expect(try await exporter.signAgain().count == (isDuring ? 3 : 4))
    withdrawn.observe {}
    #expect(try published(in: folder.url) == (isDuring ? [2, 1, 2] : [1, 2, 1, 2]))
    withdrawn.add(hash)
    for _ in 0..<2 {
      let next = try self.exporter(in: folder.url)
      _ = try await next.exportDue()
      #expect(try published(in: folder.url) == [2, 1, 2])
      try await next.removeOld()
      #expect(try await next.signAgain().count == 3)
      #expect(try published(in: folder.url) == [2, 1, 2])
    }
  }

  @Test("A file of a former export that was recorded again and not renamed is written again")
  func recorded() async throws {
    try await publish(in: folder.url)
    withdrawn.clear()
    let store = try self.store(in: folder.url)
    var batch = try #require(try await store.batches().first { $0.export == "PL" })
    batch.edition += 1
    try await store.written(
      batch, sha256: Data(repeating: 7, count: 32), paddingCount: 0, at: clock.now)
    let former = try exporter(in: folder.url, exports: [StoreScene.export()])
    _ = try await former.exportDue()
    #expect(try published(in: folder.url) == [1, 2, 1, 2])
    // One that is only missing is not.
    try FileManager.default.removeItem(at: try listed(in: folder.url)[2])
    _ = try await former.exportDue()
    #expect(try published(in: folder.url) == [1, 2, 2])
  }

  @Test("After an interruption of signing again at any step, no withdrawn file comes back")
  func interrupted() async throws {
    try await publish(in: folder.url)
    let images = DiskImages(of: folder.url, in: try TemporaryFolder())
    withdrawn.observe { images.take() }
    let observed = ObservedClock(clock: clock) { images.take() }
    _ = try await exporter(in: folder.url, clock: observed).signAgain()
    withdrawn.observe {}
    let taken = try images.all
    // Before each of the four files, after writing each of two, and at the start.
    #expect(taken.count >= 7)
    for image in taken {
      _ = try await exporter(in: image).exportDue()
      // A file that is listed with the withdrawn keys is still the withdrawn one.
      let hashes = try listed(in: image).map { KeyFileHash(ofFile: $0) }
      let others = hashes.filter { hash in !withdrawn.hashes.contains { $0 == hash } }
      let published = try published(in: image).filter { $0 != 1 }
      #expect(published == [2, 2] && others.count == 2)
      for _ in 0..<2 {
        _ = try await exporter(in: image).signAgain()
        #expect(try self.published(in: image) == [2, 2])
      }
    }
  }
}

/// The hashes of the withdrawn files, with a function that is called before each read.
private final class Withdrawals: Sendable {
  private let state = Mutex<Set<KeyFileHash>>([])
  private let observer = Mutex<@Sendable () -> Void>({})

  var hashes: Set<KeyFileHash> {
    observer.withLock { $0 }()
    return state.withLock { $0 }
  }

  func add(_ hash: KeyFileHash) { state.withLock { _ = $0.insert(hash) } }

  func clear() { state.withLock { $0 = [] } }

  func observe(_ work: @escaping @Sendable () -> Void) { observer.withLock { $0 = work } }
}

/// A clock with a function that is called before each read.
private struct ObservedClock: WallClock {
  let clock: ManualClock
  let work: @Sendable () -> Void

  var now: Date {
    work()
    return clock.now
  }

  func sleep(until end: Date) async throws { try await clock.sleep(until: end) }
}

/// Copies of a folder, as they would be left by a process that is killed at that moment.
private final class DiskImages: Sendable {
  private let original: URL
  private let folder: TemporaryFolder
  private let taken = Mutex<(images: [URL], error: (any Error)?)>(([], nil))

  init(of original: URL, in folder: TemporaryFolder) {
    self.original = original
    self.folder = folder
  }

  var all: [URL] {
    get throws {
      try taken.withLock { taken in
        if let error = taken.error { throw error }
        return taken.images
      }
    }
  }

  func take() {
    taken.withLock { taken in
      let image = folder.path("\(taken.images.count)")
      do {
        try FileManager.default.copyItem(at: original, to: image)
        // The index of the log, which SQLite makes again.
        try FileManager.default.removeItem(at: image.appendingPathComponent("keys.sqlite-shm"))
        taken.images.append(image)
      } catch {
        taken.error = error
      }
    }
  }
}
