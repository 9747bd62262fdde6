// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import KeyServer

/// Runs random operations on all implementations of `KeyStore` and compares the results.
@Suite("Key store: differential test") struct StoreDifferentialTests {
  private static func exports(_ chance: inout SeededGenerator) -> [ExportConfiguration] {
    ["", "a", "b"].map { root in
      let regions = [["PL"], ["CZ"], ["PL", "CZ"]].randomElement(using: &chance) ?? []
      var export = StoreScene.export(
        root, Set(regions), hours: [1, 4, 24].randomElement(using: &chance) ?? 4,
        minimum: Int.random(in: 0...12, using: &chance))
      export.paddingRange = Int.random(in: 0...3, using: &chance)
      export.maximumKeysPerFile = Int.random(in: 20...60, using: &chance)
      export.excludedRegions = Bool.random(using: &chance) ? ["DE"] : []
      export.travellers =
        ExportConfiguration.Travellers.allCases.randomElement(using: &chance) ?? .only
      return export
    }
  }

  /// An upload of some of 200 keys, so that many are uploaded repeatedly.
  private static func upload(_ chance: inout SeededGenerator, at now: Date) throws -> AdmittedUpload
  {
    let types: [ReportType] = [.confirmedTest, .confirmedClinicalDiagnosis, .selfReport, .revoked]
    let type = types.randomElement(using: &chance) ?? .confirmedTest
    let regions =
      [["PL"], ["CZ"], ["CZ", "PL"], ["DE", "PL"]].randomElement(using: &chance) ?? []
    let travels = Bool.random(using: &chance)
    let numbers = Set(
      (0..<Int.random(in: 1...5, using: &chance)).map { _ in
        UInt8.random(in: 0..<200, using: &chance)
      })
    let keys = try numbers.sorted().map {
      try StoreScene.key(
        $0, type, regions: regions, travels: travels,
        released: now + Double(Int.random(in: -4...4, using: &chance)) * 3_600)
    }
    let revisable = Set(
      keys.filter { _ in Int.random(in: 0..<8, using: &chance) > 0 }.map(\.key.key))
    return try StoreScene.upload(
      "\(Int.random(in: 0..<150, using: &chance))", keys,
      revising: Bool.random(using: &chance) ? revisable : nil, at: now)
  }

  /// All data that can be read from a store.
  private struct Contents: Hashable {
    var batches: [Batch] = []
    var files: [StoreScene.File] = []
    var progress = ExportProgress()
    var counts: Set<StatisticCount> = []

    init(_ scene: StoreScene) async throws {
      batches = try await scene.store.batches()
      for batch in batches { files.append(try await scene.file(batch)) }
      progress = try await scene.store.exportProgress()
      counts = Set(try await scene.store.statistics(of: "codes", from: 0))
    }
  }

  @Test("Random uploads, revisions, closings and removals have the same results", arguments: 0..<5)
  func agree(seed: Int) async throws {
    var chance = SeededGenerator(seed: UInt64(seed))
    let exports = Self.exports(&chance)
    var scenes: [StoreScene] = []
    for implementation in StoreImplementation.allCases {
      scenes.append(
        try await StoreScene(
          implementation, exports: exports, randomness: TestRandomness(seed: UInt64(seed))))
    }
    var now = StoreScene.now
    var files = 0
    for _ in 0..<120 {
      let set = exports.filter { _ in Int.random(in: 0..<10, using: &chance) > 0 }
      let step = Int.random(in: 0..<10, using: &chance)
      let upload = try Self.upload(&chance, at: now)
      now += Double(Int.random(in: 0...7_200, using: &chance))
      if step == 9 { now += Double(Int.random(in: 0...5, using: &chance)) * 86_400 }
      var acceptances: Set<Acceptance> = []
      var closed: Set<[Batch]> = []
      for scene in scenes {
        switch step {
        case 0..<6: acceptances.insert(try await scene.store.accept(upload))
        case 6..<9: closed.insert(try await scene.close(at: now, set))
        default: try await scene.store.removeOld(RetentionLimits(at: now))
        }
      }
      #expect(acceptances.count <= 1 && closed.count <= 1, "step \(step) of seed \(seed)")
      files = max(files, closed.first?.count ?? 0)
    }
    var contents: Set<Contents> = []
    for scene in scenes { contents.insert(try await Contents(scene)) }
    #expect(contents.count == 1)
    #expect(files > 0)
  }
}
