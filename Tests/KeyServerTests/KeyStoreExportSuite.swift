// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing
import World

@testable import KeyServer

/// Closing periods and removing old data, for every implementation of `KeyStore`.
@Suite("Key store: exports") struct KeyStoreExportSuite {
  typealias Implementation = StoreImplementation
  private static let (now, hour) = (StoreScene.now, StoreScene.hour)

  @Test(
    "A key is in the file of the period of its release, to the second",
    arguments: Implementation.allCases)
  func periods(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    let releases: [(UInt8, TimeInterval)] = [
      (1, -7_200), (2, 0), (3, 14_399), (4, 14_400), (5, 28_800),
    ]
    for (number, seconds) in releases {
      try await scene.accept([try StoreScene.key(number, released: Self.now + seconds)])
    }
    #expect(try await scene.close(at: Self.now + 14_399).isEmpty)
    let first = try await scene.close(at: Self.now + 14_400)
    #expect(first.map(\.start) == [Self.now] && first.map(\.end) == [Self.now + 14_400])
    #expect(try await scene.file(first[0]).names == [1, 2, 3])
    try await scene.close(at: Self.now + 28_800)
    #expect(try await scene.files().map(\.names) == [[1, 2, 3], [4]])
    #expect(try await scene.store.exportProgress().closedUntil == ["": Self.now + 28_800])
  }

  @Test(
    "A key that is uploaded or revised after its period was closed is released in the next period",
    arguments: Implementation.allCases)
  func closed(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    try await scene.accept([try StoreScene.key(1), try StoreScene.key(2)])
    try await scene.close(at: Self.now + 4 * Self.hour)
    let before = try await scene.files()
    try await scene.accept([try StoreScene.key(3, released: Self.now + 60)])
    try await scene.accept(
      [try StoreScene.key(2, .revoked, released: Self.now + 60)], revising: true)
    #expect(try await scene.files() == before)
    try await scene.close(at: Self.now + 8 * Self.hour)
    let files = try await scene.files()
    #expect(files.map(\.names) == [[1, 2], [3]] && files.map(\.revisedNames) == [[], [2]])
    #expect(files[0] == before[0])
  }

  @Test(
    "A period is closed once, has no file without keys, and cannot be closed after other exports closed its end",
    arguments: Implementation.allCases)
  func once(_ implementation: Implementation) async throws {
    let (often, daily) = (StoreScene.export(), StoreScene.export("daily", hours: 12))
    let scene = try await StoreScene(implementation, exports: [often, daily])
    try await scene.accept([try StoreScene.key(1, released: Self.now + 5 * Self.hour)])
    #expect(try await scene.close(at: Self.now + 4 * Self.hour).isEmpty)
    let plan = ClosingPlan(
      end: Self.now + 8 * Self.hour,
      periods: [often, daily].map { .init(export: $0, start: Self.now, minimumKeys: 0) },
      randomness: SystemRandomness())
    #expect(try await scene.store.close(plan).map(\.export) == ["", "daily"])
    #expect(try await scene.store.close(plan).isEmpty)
    try await scene.close(at: Self.now + 12 * Self.hour, [often])
    // One export has closed this moment, so it is closed for all.
    let late = ClosingPlan(
      end: Self.now + 12 * Self.hour,
      periods: [.init(export: daily, start: Self.now + 8 * Self.hour, minimumKeys: 0)],
      randomness: SystemRandomness())
    #expect(try await scene.store.close(late).isEmpty)
    let progress = try await scene.store.exportProgress()
    #expect(
      progress.closedUntil == ["": Self.now + 12 * Self.hour, "daily": Self.now + 8 * Self.hour])
    #expect(try await scene.store.batches().count == 2)
  }

  @Test(
    "A new export begins with the current period, or with that of the others if they are behind",
    arguments: Implementation.allCases)
  func begin(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    let more = [("a", 4), ("b", 24), ("c", 1)].map { StoreScene.export($0, hours: $1) }
    // No period was closed since noon.
    let store = try await scene.open(Array(more.prefix(2)), Self.now + 9 * Self.hour)
    let midnight = RunningKeyServer.midnight
    var expected = ["": Self.now, "a": Self.now, "b": midnight]
    #expect(try await store.exportProgress().closedUntil == expected)
    try await scene.accept([try StoreScene.key(1)])
    try await scene.close(at: Self.now + 9 * Self.hour, scene.exports + more.prefix(2))
    #expect(try await scene.files(of: "a") == scene.files())
    _ = try await scene.open(more, Self.now + 10 * Self.hour)
    expected["c"] = Self.now + 8 * Self.hour
    expected.merge(["": Self.now + 8 * Self.hour, "a": Self.now + 8 * Self.hour]) { $1 }
    #expect(try await store.exportProgress().closedUntil == expected)
    // With the clock set back to before the last closing.
    _ = try await scene.open([StoreScene.export("d")], Self.now + 5 * Self.hour)
    expected["d"] = Self.now + 4 * Self.hour
    #expect(try await store.exportProgress().closedUntil == expected)
  }

  @Test(
    "Keys that are imported before the first start are in the first file",
    arguments: Implementation.allCases)
  func importedBefore(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation, exports: [])
    let earlier = Self.now - 30 * 24 * Self.hour
    let keys = try [1, 2, 16, 255].map { try StoreScene.key($0, released: earlier) }
    _ = try await scene.store.importKeys(
      ImportedKeys(
        source: "a", sha256: Data(repeating: 1, count: 32), at: Self.now, keys: keys, revised: []))
    _ = try await scene.store.importKeys(
      ImportedKeys(
        source: "b", sha256: Data(repeating: 2, count: 32), at: Self.now, keys: [],
        revised: [try StoreScene.key(1, .confirmedTest, released: earlier)]))
    let exports = [StoreScene.export()]
    for _ in 1...2 { _ = try await scene.open(exports, Self.now) }
    try await scene.close(at: Self.now + 4 * Self.hour, exports)
    let files = try await scene.files()
    #expect(files.map(\.names) == [[1, 2, 16, 255]] && files.map(\.revisedNames) == [[]])
    #expect(files.first?.keys.map(\.reportType).contains(.confirmedTest) == true)
    #expect(try await scene.store.check() == StoreCheck())
    #expect(scene.store.skippedKeyCount() == 0)
    // They can be revised afterwards.
    let revision = try StoreScene.key(2, .revoked, released: Self.now + 5 * Self.hour)
    try await scene.accept([revision], revising: true)
    try await scene.close(at: Self.now + 8 * Self.hour, exports)
    #expect(try await scene.files().map(\.revisedNames) == [[], [2]])
  }

  @Test(
    "Regions, exclusions and travel select the keys, by the settings at the time of closing",
    arguments: Implementation.allCases)
  func filters(_ implementation: Implementation) async throws {
    var (without, only) = (StoreScene.export("b", ["PL", "CZ"]), StoreScene.export("c"))
    without.excludedRegions = ["DE"]
    only.travellers = .only
    let scene = try await StoreScene(
      implementation, exports: [StoreScene.export("a"), without, only])
    for (number, regions, travels) in [
      (1, ["PL"], false), (2, ["CZ"], true), (3, ["DE", "PL"], true), (4, ["PL"], true),
      (5, ["DE"], false),
    ] as [(UInt8, [String], Bool)] {
      try await scene.accept([try StoreScene.key(number, regions: regions, travels: travels)])
    }
    try await scene.close(at: Self.now + 4 * Self.hour)
    #expect(try await scene.files(of: "a").map(\.names) == [[1, 3, 4]])
    #expect(try await scene.files(of: "b").map(\.names) == [[1, 2, 4]])
    #expect(try await scene.files(of: "c").map(\.names) == [[3, 4]])
    // Closed files do not follow new settings.
    let other = try await scene.open([StoreScene.export("a", ["DE"])], Self.now + 5 * Self.hour)
    #expect(try await other.batches() == scene.store.batches())
    #expect(try await scene.files(of: "a").map(\.names) == [[1, 3, 4]])
  }

  @Test(
    "Padding has the properties of real keys, is in the files of all exports, and persists",
    arguments: Implementation.allCases)
  func padding(_ implementation: Implementation) async throws {
    var (large, travellers) = (StoreScene.export("large", minimum: 11), StoreScene.export("t"))
    travellers.travellers = .only
    let scene = try await StoreScene(
      implementation, exports: [StoreScene.export(minimum: 5), large, travellers])
    let real = [
      try StoreScene.key(1), try StoreScene.key(2, .confirmedTest, regions: ["CZ", "PL"]),
      try StoreScene.key(3, .selfReport, travels: true),
    ]
    try await scene.accept(real)
    try await scene.close(at: Self.now + 4 * Self.hour)
    let file = try #require(try await scene.files().first)
    #expect(try await scene.files(of: "large") == [file])
    #expect(file.keys.count == 11)
    #expect(file.keys == file.keys.sorted(by: DiagnosisKey.inFileOrder))
    // Two padding keys for the first export and six for the second.
    #expect(Set(file.keys.map(\.reportType)) == Set(real.map(\.key.reportType)))
    #expect(
      Set(file.keys.map(\.transmissionRiskLevel)) == Set(real.map(\.key.transmissionRiskLevel)))
    let end = Self.now + 4 * Self.hour
    for key in file.keys {
      #expect(Embargo.release(of: key.key, receivedAt: Self.now) < end)
      #expect(key.daysSinceOnsetOfSymptoms.map(KeyServerLimit.daysSinceOnset.contains) == true)
    }
    #expect(
      try await scene.files(of: "t").map { Set($0.keys.map(\.reportType)) } == [[.selfReport]])
    // Later periods contain none of it, and the file does not change.
    try await scene.close(at: Self.now + 12 * Self.hour)
    #expect(try await scene.files() == [file])
  }

  @Test(
    "A period with the minimum number of keys gets no padding, nor does one without keys",
    arguments: Implementation.allCases)
  func minimum(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation, exports: [StoreScene.export(minimum: 3)])
    let late = Self.now + 5 * Self.hour
    try await scene.accept(try (1...3).map { try StoreScene.key($0) })
    try await scene.accept(try (4...5).map { try StoreScene.key($0, released: late) })
    try await scene.accept([try StoreScene.key(6, released: Self.now + 13 * Self.hour)])
    try await scene.close(at: Self.now + 16 * Self.hour)
    #expect(try await scene.files().map(\.keys.count) == [3, 3, 3])
    #expect(try await scene.files()[0].names == [1, 2, 3])
    let starts = try await scene.store.batches().map { $0.start.timeIntervalSince(Self.now) }
    #expect(starts == [0, 14_400, 43_200])
  }

  @Test(
    "A period is split evenly by key bytes, including revised keys, into files a second apart",
    arguments: Implementation.allCases)
  func split(_ implementation: Implementation) async throws {
    var export = StoreScene.export()
    export.maximumKeysPerFile = 3
    let scene = try await StoreScene(implementation, exports: [export])
    try await scene.accept([try StoreScene.key(5)])
    try await scene.close(at: Self.now + 4 * Self.hour)
    let later = Self.now + 5 * Self.hour
    try await scene.accept([try StoreScene.key(5, .revoked, released: later)], revising: true)
    for number in [9, 1, 7, 3, 8, 2] as [UInt8] {
      try await scene.accept([try StoreScene.key(number, released: later)])
    }
    let batches = try await scene.close(at: Self.now + 8 * Self.hour)
    let ends = batches.map { $0.end.timeIntervalSince(Self.now) }
    #expect(ends == [28_800, 28_801, 28_802])
    let files = try await scene.files().dropFirst()
    #expect(files.map(\.names) == [[1, 2], [3], [7, 8, 9]])
    #expect(files.map(\.revisedNames) == [[], [5], []])
  }

  @Test(
    "A key that is revised before its publication is published revised, and never if it was revoked",
    arguments: Implementation.allCases)
  func revisedBefore(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    try await scene.accept(try (1...3).map { try StoreScene.key($0) })
    let changed = [try StoreScene.key(1, .revoked), try StoreScene.key(2, .confirmedTest)]
    try await scene.accept(changed, revising: true)
    // This key is published now and confirmed in the next period.
    let later = try StoreScene.key(3, .confirmedTest, released: Self.now + 4 * Self.hour)
    try await scene.accept([later], revising: true)
    try await scene.close(at: Self.now + 8 * Self.hour)
    let files = try await scene.files()
    #expect(files.map(\.names) == [[2, 3], []])
    #expect(files[0].keys.map(\.reportType) == [.confirmedTest, .confirmedClinicalDiagnosis])
    #expect(files[0].keys[0] == changed[1].key)
    #expect(files[1].revised == [later.key])
  }

  @Test(
    "A period whose keys were all revoked before its end has no file",
    arguments: Implementation.allCases)
  func revokedBefore(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    try await scene.accept(try (1...2).map { try StoreScene.key($0) })
    try await scene.accept(try (1...2).map { try StoreScene.key($0, .revoked) }, revising: true)
    let first = try await scene.close(at: Self.now + 4 * Self.hour)
    #expect(first.isEmpty)
    try await scene.accept([try StoreScene.key(3, released: Self.now + 5 * Self.hour)])
    try await scene.close(at: Self.now + 8 * Self.hour)
    #expect(try await scene.files().map(\.names) == [[3]])
  }

  @Test("No key is kept longer because of a roll-up", arguments: Implementation.allCases)
  func rollUps(_ implementation: Implementation) async throws {
    let root = RollUps.roots[1]
    let scene = try await StoreScene(
      implementation, exports: [StoreScene.export(), StoreScene.export(root, hours: 24)])
    try await scene.accept([try StoreScene.key(1)])
    try await scene.accept([try StoreScene.key(2, released: Self.now + 5 * Self.hour)])
    _ = try await scene.close(at: Self.now + 12 * Self.hour)
    var rollUps = try await scene.files(of: root)
    #expect(rollUps.map(\.keys.count) == [2])
    let end = Self.now + 4 * Self.hour + KeyServerLimit.retentionSeconds
    try await scene.store.removeOld(RetentionLimits(at: end))
    let files = try await scene.files()
    rollUps = try await scene.files(of: root)
    #expect(files.map(\.keys.count) == [1] && rollUps.map(\.keys.count) == [1])
  }

  @Test(
    "Old files, keys that no file needs, tokens and counts are removed, to the second",
    arguments: Implementation.allCases)
  func removed(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    let upload = try StoreScene.upload("t", [try StoreScene.key(1), try StoreScene.key(2)])
    _ = try await scene.store.accept(upload)
    try await scene.close(at: Self.now + 4 * Self.hour)
    let revision = try StoreScene.key(2, .revoked, released: Self.now + 5 * Self.hour)
    try await scene.accept([revision], revising: true)
    try await scene.close(at: Self.now + 8 * Self.hour)
    let files = try await scene.files()
    // A token with the same ID may be valid for 25 hours, and is stored a day longer.
    let expiry = Self.now + 49 * Self.hour
    for (seconds, isStored) in [(-1, true), (0, false)] as [(TimeInterval, Bool)] {
      try await scene.store.removeOld(RetentionLimits(at: expiry + seconds))
      #expect((try await scene.store.acceptance(of: upload) != nil) == isStored)
    }
    let end = Self.now + 4 * Self.hour + KeyServerLimit.retentionSeconds
    try await scene.store.removeOld(RetentionLimits(at: end - 1))
    #expect(try await scene.files() == files)
    try await scene.store.removeOld(RetentionLimits(at: end))
    // The file of the revision is kept, and so is its key.
    #expect(try await scene.files() == [files[1]])
    try await scene.store.removeOld(RetentionLimits(at: end + 4 * Self.hour))
    #expect(try await scene.store.batches().isEmpty)
    // Both keys are removed, so they can be uploaded again.
    let again = try (1...2).map { try StoreScene.key($0) }
    #expect(
      try await scene.store.accept(try StoreScene.upload("again", again))
        == .accepted(response: Data("StoredUploadCounts(2 inserted, 0 revised)".utf8)))
    // Counts are removed with the end of their day.
    let day = RunningKeyServer.midnight + KeyServerLimit.statisticsSeconds + 86_400
    for (seconds, count) in [(-1, [0: 4]), (0, [:])] as [(TimeInterval, [Int: Int])] {
      try await scene.store.removeOld(RetentionLimits(at: day + seconds))
      #expect(try await scene.counts(.keys) == count)
    }
  }
}
