// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import ServerStorage
import Synchronization
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite("Key server: roll-ups")
struct RollUpTests {
  @Test("A roll-up has exactly the keys of the files of its period, padding included")
  func keys() async throws {
    try await RunningKeyServer.run({ $0.rollUps = true }) { server in
      for _ in 0..<12 {
        _ = try await server.uploadKeys(2)
        try await server.exportPeriod()
      }
      let files = try await Self.files(of: "", server)
      #expect(files.count == 12)
      for hours in KeyServerRoute.rollUpHours {
        let rollUps = try await Self.files(of: KeyServerRoute.rollUpRoot(hours: hours), server)
        #expect(!rollUps.isEmpty)
        for (name, keys) in rollUps {
          let start = try #require(name.startTimestamp)
          #expect(name.endTimestamp - start == Int64(hours) * 3_600)
          #expect(start % (Int64(hours) * 3_600) == 0)
          let covered = files.filter {
            ($0.key.startTimestamp ?? 0) >= start && $0.key.endTimestamp <= name.endTimestamp
          }
          #expect(keys == covered.values.reduce(into: []) { $0.formUnion($1) })
        }
      }
    }
  }

  /// The keys in the listed files of an export.
  private static func files(
    of root: String, _ server: RunningKeyServer
  ) async throws -> [KeyFileName: Set<String>] {
    var files: [KeyFileName: Set<String>] = [:]
    for line in try await server.lines(of: root) {
      let file = try await server.published(line)
      let name = try #require(KeyFileName(line.split(separator: "/").last ?? ""))
      #expect(file.texts.count == file.keys.count && file.revisedKeys.isEmpty)
      files[name] = file.texts
    }
    return files
  }

  @Test("A roll-up is removed 14 days after its period began, before the files that it covers")
  func expired() async throws {
    let scene = try Scene()
    // From noon to the end of a period of 48 hours.
    try await scene.export(periods: 9)
    let root = KeyServerRoute.rollUpRoot(hours: 48)
    let start = try #require(try scene.listed()[root]?.first?.startTimestamp)
    let expiry = Date(unixSecond: start).addingTimeInterval(KeyServerLimit.retentionSeconds)
    scene.clock.advance(by: expiry.timeIntervalSince(scene.clock.now) - 1)
    try await scene.exporter.removeOld()
    #expect(try scene.listed()[root]?.count == 1)
    scene.clock.advance(by: 1)
    try await scene.exporter.removeOld()
    #expect(try scene.listed()[root] == [])
    #expect(try scene.stored(root) == [])
    #expect(try scene.listed()[""]?.count == 9)
    // Its hash can still be withdrawn with a file that it covers.
    #expect(try await scene.store.batches().contains { $0.export == root })
  }

  @Test("When the withdrawal of a file ends, so does that of the roll-ups without another one")
  func restored() async throws {
    let scene = try Scene()
    try await scene.export(periods: 9)
    let listed = try scene.listed()
    let names = try [0, 3].map { try #require(listed[""]?[$0]) }
    let files = try Set(names.map { try scene.hash(of: $0, in: "") })
    // The first file is in a half day and a day without the second one, and both are in one period of 48 hours.
    var (rollUps, ofFirst): (Set<KeyFileHash>, Set<KeyFileHash>) = ([], [])
    for (root, all) in listed where RollUps.isRoot(root) {
      for rollUp in all where names.contains(where: { Self.covers(rollUp, $0) }) {
        let hash = try scene.hash(of: rollUp, in: root)
        rollUps.insert(hash)
        if !Self.covers(rollUp, names[1]) { ofFirst.insert(hash) }
      }
    }
    #expect(rollUps.count == 5 && ofFirst.count == 2)
    let history = try KeyFileHistory(databaseFile: scene.folder.path("keys.sqlite"))
    let withdrawn = files.union(rollUps)
    let first = try scene.hash(of: names[0], in: "")
    #expect(
      try await history.rollUps(coveringFilesWith: [first], withdrawn: withdrawn) == ofFirst)
    #expect(try await history.rollUps(coveringFilesWith: files, withdrawn: withdrawn) == rollUps)
    #expect(try await history.rollUps(coveringFilesWith: [], withdrawn: withdrawn).isEmpty)
  }

  @Test("Roll-ups have longer periods than the files, and whole ones of them")
  func periods() {
    var export = ExportConfiguration(filenameRoot: "", region: "PL")
    let roots = KeyServerRoute.rollUpHours.map { KeyServerRoute.rollUpRoot(hours: $0) }
    #expect(RollUps.exports(of: export).map(\.filenameRoot) == roots)
    #expect(RollUps.exports(of: export).allSatisfy { $0.fault == nil })
    for (seconds, periods) in [
      (86_400, [172_800]), (43_200, [86_400, 172_800]), (28_800, [86_400, 172_800]),
      (3_600, [43_200, 86_400, 172_800]),
    ] {
      export.periodSeconds = seconds
      #expect(RollUps.exports(of: export).map(\.periodSeconds) == periods)
    }
  }

  @Test("An export of the settings may not take the folder of a roll-up")
  func taken() throws {
    let folder = try TemporaryFolder()
    var configuration = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    configuration.furtherExports = [StoreScene.export(KeyServerRoute.rollUpRoot(hours: 24))]
    try configuration.checked()
    configuration.rollUps = true
    #expect(throws: KeyServerError.self) { try configuration.checked() }
  }

  @Test("Roll-ups do not count as exports of the settings")
  func most() throws {
    let folder = try TemporaryFolder()
    var configuration = RunningKeyServer.configuration(authority: Authority(), folder: folder)
    configuration.rollUps = true
    configuration.furtherExports = (1..<KeyServerLimit.exportCountMax).map {
      StoreScene.export("export-\($0)")
    }
    try configuration.checked()
    configuration.furtherExports.append(StoreScene.export("export-0"))
    #expect(throws: KeyServerError.self) { try configuration.checked() }
  }

  @Test("A roll-up with a withdrawn file is removed, or not written, and the others stay")
  func withdrawn() async throws {
    let scene = try Scene()
    try await scene.export(periods: 6)
    // From noon: a half day, a whole one, and the first third of the second.
    let before = try scene.listed()
    #expect(before["rollup-12h"]?.count == 2 && before["rollup-24h"]?.count == 1)
    let files = try #require(before[""])
    // One in the only listed 24 hours, one in a period of 48 hours that is not closed.
    for name in [files[0], files[5]] { try scene.withdraw(name) }
    try await scene.export(periods: 9)
    let after = try scene.listed()
    #expect(after[""]?.count == 15)
    #expect(after["rollup-12h"]?.contains { before["rollup-12h"]?.contains($0) ?? false } == false)
    for (root, names) in after where RollUps.isRoot(root) {
      for name in names {
        #expect(![files[0], files[5]].contains { Self.covers(name, $0) }, "\(root)/\(name)")
      }
    }
    #expect(after["rollup-24h"]?.isEmpty == false)
    #expect(try scene.stored("rollup-24h") == after["rollup-24h"])
  }

  private static func covers(_ rollUp: KeyFileName, _ file: KeyFileName) -> Bool {
    (rollUp.startTimestamp ?? 0) <= (file.startTimestamp ?? 0)
      && file.endTimestamp <= rollUp.endTimestamp
  }

  @Test("Of a roll-up in several files none is listed before all are written")
  func incomplete() throws {
    let start = Date(unixSecond: 1_599_955_200)
    let filter = StoreScene.export().filter
    let batches = [0, 1, 100_000].map { seconds in
      Batch(
        export: KeyServerRoute.rollUpRoot(hours: 24), region: "PL",
        end: start.addingTimeInterval(86_400 + seconds),
        selection: KeySelection(
          start: seconds > 1 ? start.addingTimeInterval(86_400) : start,
          end: start.addingTimeInterval(86_400 + seconds), filter: filter))
    }
    let names = batches.compactMap(\.name)
    let second = start.unixSecond + 86_400
    #expect(RollUps.completeStarts(of: batches, in: names) == [start.unixSecond, second])
    #expect(RollUps.completeStarts(of: batches, in: [names[0], names[2]]) == [second])
    #expect(RollUps.completeStarts(of: batches, in: []) == [])
  }

  /// An exporter with a key in each period.
  private struct Scene {
    let folder: TemporaryFolder
    let clock = ManualClock(StoreScene.now)
    let store: SQLiteKeyStore
    let exports: ExportFolder
    let exporter: Exporter
    private let hashes = Hashes()

    init() throws {
      folder = try TemporaryFolder()
      let all = [StoreScene.export()] + RollUps.exports(of: StoreScene.export())
      store = try SQLiteKeyStore(
        file: folder.path("keys.sqlite"), keys: StoreScene.databaseKeys, exports: all,
        at: clock.now)
      exports = try ExportFolder(
        folder.path("export"), roots: all.dropFirst().map(\.filenameRoot))
      let pem = P256.Signing.PrivateKey().pemRepresentation
      exporter = Exporter(
        store: store, folder: exports, exports: all,
        signers: ExportSigners {
          [ExportSigner(privateKeyPEM: pem, keyID: "260", keyVersion: "v1")]
        }, clock: clock, time: TrustedTime(clock, store), randomness: SystemRandomness(),
        withdrawn: { [hashes] in hashes.all.withLock { $0 } })
    }

    func export(periods: Int) async throws {
      for _ in 0..<periods {
        let number = UInt8(clock.now.timeIntervalSince(StoreScene.now) / 14_400) + 1
        try store.insert([try StoreScene.key(number, released: clock.now)])
        clock.advance(by: 4 * StoreScene.hour)
        _ = try await exporter.exportDue()
        try await exporter.removeOld()
      }
    }

    func hash(of name: KeyFileName, in root: String) throws -> KeyFileHash {
      try #require(KeyFileHash(ofFile: exports.file(name, of: root)))
    }

    func withdraw(_ name: KeyFileName) throws {
      let hash = try hash(of: name, in: "")
      hashes.all.withLock { _ = $0.insert(hash) }
    }

    func listed() throws -> [String: [KeyFileName]] {
      let roots = [""] + KeyServerRoute.rollUpHours.map { KeyServerRoute.rollUpRoot(hours: $0) }
      return try Dictionary(
        uniqueKeysWithValues: roots.map { ($0, try exports.listedNames(of: $0)) })
    }

    /// The files in the folder of an export.
    func stored(_ root: String) throws -> [KeyFileName] {
      try FileManager.default.contentsOfDirectory(
        atPath: exports.indexFile(root).deletingLastPathComponent().path
      ).compactMap { KeyFileName($0) }.sorted()
    }
  }

  private final class Hashes: Sendable {
    let all = Mutex<Set<KeyFileHash>>([])
  }
}
