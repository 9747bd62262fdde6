// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import KeyServerAPI
import ServerStorage
import TestSupport
import Testing
import World

@testable import KeyServer

/// An observer downloads every file of every export repeatedly and compares them. The comparison must not tell
/// padding from real keys.
@Suite("Observer of all exports")
struct ObserverTests {
  /// An exporter without a server, on a manual clock.
  private struct Setup {
    let scene: StoreScene
    let clock = ManualClock(StoreScene.now)
    let folder: ExportFolder
    let signer = P256.Signing.PrivateKey()
    var generator: SeededGenerator
    /// The start of the first period of each export.
    var begins: [String: Date] = [:]
    var uploaded: Set<[UInt8]> = []
  }

  /// One file as the observer saw it.
  private struct ObservedFile {
    let start: Date
    let end: Date
    let keys: [DiagnosisKey]
  }

  /// Pairs of exports: the second has every key of the first.
  private static let subsets = [
    ("", "same"), ("same", ""), ("", "wide"), ("same", "wide"), ("t", ""), ("t", "same"),
    ("t", "wide"),
  ]

  private static func exports(_ generator: inout SeededGenerator) -> [ExportConfiguration] {
    [("", ["PL"]), ("same", ["PL"]), ("wide", ["PL", "CZ"]), ("t", ["PL"])].map { root, regions in
      var export = StoreScene.export(
        root, Set(regions), hours: [1, 2, 4, 8, 24].randomElement(using: &generator) ?? 4,
        minimum: Int.random(in: 0...40, using: &generator))
      export.paddingRange = Int.random(in: 0...5, using: &generator)
      export.travellers = root == "t" ? .only : .included
      return export
    }
  }

  @Test(
    "Files never change, exports of one region have the same keys, and no file is below the minimum",
    arguments: StoreImplementation.allCases, 0..<4)
  func compare(_ implementation: StoreImplementation, seed: Int) async throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let exports = Self.exports(&generator)
    let scene = try await StoreScene(implementation, exports: [])
    let roots = exports.map(\.filenameRoot).filter { !$0.isEmpty }
    var setup = Setup(
      scene: scene, folder: try ExportFolder(scene.folder.path("export"), roots: roots),
      generator: generator)
    var observed: [String: ObservedFile] = [:]
    var setUp = [exports[0]]
    for _ in 0..<30 {
      if Int.random(in: 0..<4, using: &setup.generator) == 0 {
        setUp = exports.filter {
          $0.filenameRoot.isEmpty || Bool.random(using: &setup.generator)
        }
      }
      try await Self.runStep(in: &setup, setUp)
      try Self.read(setup, &observed)
    }
    let progress = try await setup.scene.store.exportProgress()
    for (inner, outer) in Self.subsets {
      Self.compare(inner, with: outer, observed, begins: setup.begins, progress)
    }
    Self.checkMinimum(observed, exports)
    let all = Set(observed.values.flatMap(\.keys).map(\.key.secretBytes))
    #expect(!all.isDisjoint(with: setup.uploaded) && !all.isSubset(of: setup.uploaded))
  }

  /// Some uploads, some time, an export; sometimes the files are deleted before it.
  private static func runStep(in setup: inout Setup, _ exports: [ExportConfiguration]) async throws
  {
    let store = try await setup.scene.open(exports, setup.clock.now)
    let progress = try await store.exportProgress()
    setup.begins.merge(progress.closedUntil) { before, _ in before }
    for _ in 0..<Int.random(in: 0...3, using: &setup.generator) {
      let regions = [["PL"], ["CZ"], ["CZ", "PL"]].randomElement(using: &setup.generator) ?? []
      let travels = Bool.random(using: &setup.generator)
      let keys = try (0..<Int.random(in: 1...4, using: &setup.generator)).map { _ in
        try StoreScene.key(
          bytes: SystemRandomness().bytes(16), .confirmedTest, regions: regions, travels: travels,
          released: setup.clock.now)
      }
      try await setup.scene.accept(keys, at: setup.clock.now)
      setup.uploaded.formUnion(keys.map(\.bytes))
    }
    setup.clock.advance(by: Double(Int.random(in: 0...6, using: &setup.generator)) * 3_600)
    if Int.random(in: 0..<5, using: &setup.generator) == 0 { try removeFiles(setup.folder) }
    let pem = setup.signer.pemRepresentation
    _ = try await Exporter(
      store: store, folder: setup.folder, exports: exports,
      signers: ExportSigners { [ExportSigner(privateKeyPEM: pem, keyID: "260", keyVersion: "v1")] },
      clock: setup.clock, time: TrustedTime(setup.clock, store), randomness: SystemRandomness(),
      withdrawn: { [] }
    ).exportDue()
  }

  private static func zips(in folder: ExportFolder) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).filter {
      $0.hasSuffix(".zip")
    }
  }

  private static func removeFiles(_ folder: ExportFolder) throws {
    for zip in try zips(in: folder) {
      try FileManager.default.removeItem(at: folder.url.appendingPathComponent(zip))
    }
  }

  /// Reads every file. One that was read before must be unchanged.
  private static func read(_ setup: Setup, _ observed: inout [String: ObservedFile]) throws {
    let key = try VerificationPublicKey(
      keyID: "260", keyVersion: "v1", publicKeyPEM: setup.signer.publicKey.pemRepresentation)
    for zip in try zips(in: setup.folder) {
      var keys: [DiagnosisKey] = []
      let file = UnverifiedKeyFile(at: setup.folder.url.appendingPathComponent(zip))
      let header = try file.verified(by: [key], batchSize: 1_000) { keys += $0.keys }.facts.header
      // A file that was written again has another number and the same keys.
      let period = zip.replacing(#/-[0-9]{5}\.zip$/#, with: ".zip")
      if let before = observed[period] { #expect(before.keys == keys, "\(zip)") }
      observed[period] = ObservedFile(
        start: Date(timeIntervalSince1970: Double(header.start)),
        end: Date(timeIntervalSince1970: Double(header.end)), keys: keys)
    }
  }

  private static func files(_ observed: [String: ObservedFile], of root: String) -> [ObservedFile] {
    observed.filter { zip, _ in
      root.isEmpty ? !zip.contains("/") : zip.hasPrefix(root + "/")
    }.map(\.value)
  }

  /// Every key in a file of `inner` must be in one file of `outer` that covers the same time.
  private static func compare(
    _ inner: String, with outer: String, _ observed: [String: ObservedFile], begins: [String: Date],
    _ progress: ExportProgress
  ) {
    let theirs = files(observed, of: outer).flatMap(\.keys).map(\.key.secretBytes)
    let known = Set(theirs)
    #expect(known.count == theirs.count, "\(outer) has a key twice")
    guard let begin = begins[outer], let end = progress.closedUntil[outer] else { return }
    for file in files(observed, of: inner) where begin <= file.start && file.end <= end {
      let missing = file.keys.filter { !known.contains($0.key.secretBytes) }
      #expect(
        missing.isEmpty,
        "\(missing.count) of \(file.keys.count) keys of \(inner) are not in \(outer)")
    }
  }

  /// No file may have fewer keys than the minimum of its export.
  private static func checkMinimum(
    _ observed: [String: ObservedFile], _ exports: [ExportConfiguration]
  ) {
    for export in exports {
      for file in files(observed, of: export.filenameRoot) {
        #expect(file.keys.count >= export.minimumKeys, "\(export.filenameRoot)")
      }
    }
  }
}
