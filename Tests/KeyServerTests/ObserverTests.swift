import Crypto
import DiagnosisKeyFile
import ExposureKeys
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

@testable import KeyServer

/// An observer downloads every file of every export repeatedly and compares them. The comparison must not tell
/// padding from real keys.
@Suite("Observer of all exports")
struct ObserverTests {
  /// An exporter without a server, on a manual clock.
  private struct Place {
    let scene: StoreScene
    let clock = ManualClock(StoreScene.now)
    let folder: ExportFolder
    let signer = P256.Signing.PrivateKey()
    var chance: SeededGenerator
    /// The start of the first period of each export.
    var begins: [String: Date] = [:]
    var uploaded: Set<[UInt8]> = []
  }

  /// One file as the observer saw it.
  private struct Seen {
    let start: Date
    let end: Date
    let keys: [DiagnosisKey]
  }

  /// Pairs of exports: the second has every key of the first.
  private static let within = [
    ("", "same"), ("same", ""), ("", "wide"), ("same", "wide"), ("t", ""), ("t", "same"),
    ("t", "wide"),
  ]

  private static func exports(_ chance: inout SeededGenerator) -> [ExportConfiguration] {
    [("", ["PL"]), ("same", ["PL"]), ("wide", ["PL", "CZ"]), ("t", ["PL"])].map { root, regions in
      var export = StoreScene.export(
        root, Set(regions), hours: [1, 2, 4, 8, 24].randomElement(using: &chance) ?? 4,
        minimum: Int.random(in: 0...40, using: &chance))
      export.paddingRange = Int.random(in: 0...5, using: &chance)
      export.travellers = root == "t" ? .only : .likeEverybody
      return export
    }
  }

  @Test(
    "Files never change, exports of one region have the same keys, and no file is below the minimum",
    arguments: StoreImplementation.allCases, 0..<4)
  func compare(_ implementation: StoreImplementation, seed: Int) async throws {
    var chance = SeededGenerator(seed: UInt64(seed))
    let exports = Self.exports(&chance)
    let scene = try StoreScene(implementation, exports: [])
    let roots = exports.map(\.filenameRoot).filter { !$0.isEmpty }
    var place = Place(
      scene: scene, folder: try ExportFolder(scene.folder.path("export"), roots: roots),
      chance: chance)
    var seen: [String: Seen] = [:]
    var setUp = [exports[0]]
    for _ in 0..<30 {
      if Int.random(in: 0..<4, using: &place.chance) == 0 {
        setUp = exports.filter {
          $0.filenameRoot.isEmpty || Bool.random(using: &place.chance)
        }
      }
      try await Self.pass(in: &place, setUp)
      try Self.look(into: place, &seen)
    }
    let progress = try await place.scene.store.exportProgress()
    for (inner, outer) in Self.within {
      Self.compare(inner, with: outer, seen, begins: place.begins, progress)
    }
    Self.measure(seen, exports)
    let all = Set(seen.values.flatMap(\.keys).map(\.key.secretBytes))
    #expect(!all.isDisjoint(with: place.uploaded) && !all.isSubset(of: place.uploaded))
  }

  /// Some uploads, some time, an export; sometimes the files are deleted before it.
  private static func pass(in place: inout Place, _ exports: [ExportConfiguration]) async throws {
    let store = try place.scene.open(exports, place.clock.now)
    let progress = try await store.exportProgress()
    place.begins.merge(progress.closedUntil) { before, _ in before }
    for _ in 0..<Int.random(in: 0...3, using: &place.chance) {
      let regions = [["PL"], ["CZ"], ["CZ", "PL"]].randomElement(using: &place.chance) ?? []
      let travels = Bool.random(using: &place.chance)
      let keys = try (0..<Int.random(in: 1...4, using: &place.chance)).map { _ in
        try StoreScene.key(
          bytes: SystemRandomness().bytes(16), .confirmedTest, regions: regions, travels: travels,
          released: place.clock.now)
      }
      try await place.scene.accept(keys, at: place.clock.now)
      place.uploaded.formUnion(keys.map(\.bytes))
    }
    place.clock.advance(by: Double(Int.random(in: 0...6, using: &place.chance)) * 3_600)
    if Int.random(in: 0..<5, using: &place.chance) == 0 { try lose(place.folder) }
    let pem = place.signer.pemRepresentation
    _ = try await Exporter(
      store: store, folder: place.folder, exports: exports,
      signers: ExportSigners { [ExportSigner(privateKeyPEM: pem, keyID: "260", keyVersion: "v1")] },
      clock: place.clock, randomness: SystemRandomness()
    ).exportDue()
  }

  private static func zips(in folder: ExportFolder) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).filter {
      $0.hasSuffix(".zip")
    }
  }

  private static func lose(_ folder: ExportFolder) throws {
    for zip in try zips(in: folder) {
      try FileManager.default.removeItem(at: folder.url.appendingPathComponent(zip))
    }
  }

  /// Reads every file. One that was read before must be unchanged.
  private static func look(into place: Place, _ seen: inout [String: Seen]) throws {
    let key = try VerificationPublicKey(
      keyID: "260", keyVersion: "v1", publicKeyPEM: place.signer.publicKey.pemRepresentation)
    for zip in try zips(in: place.folder) {
      var keys: [DiagnosisKey] = []
      let file = UnverifiedKeyFile(at: place.folder.url.appendingPathComponent(zip))
      let header = try file.verified(by: [key], batchSize: 1_000) { keys += $0.keys }.facts.header
      if let before = seen[zip] { #expect(before.keys == keys, "\(zip)") }
      seen[zip] = Seen(
        start: Date(timeIntervalSince1970: Double(header.start)),
        end: Date(timeIntervalSince1970: Double(header.end)), keys: keys)
    }
  }

  private static func files(_ seen: [String: Seen], of root: String) -> [Seen] {
    seen.filter { zip, _ in
      root.isEmpty ? !zip.contains("/") : zip.hasPrefix(root + "/")
    }.map(\.value)
  }

  /// Every key in a file of `inner` must be in one file of `outer` that covers the same time.
  private static func compare(
    _ inner: String, with outer: String, _ seen: [String: Seen], begins: [String: Date],
    _ progress: ExportProgress
  ) {
    let theirs = files(seen, of: outer).flatMap(\.keys).map(\.key.secretBytes)
    let known = Set(theirs)
    #expect(known.count == theirs.count, "\(outer) has a key twice")
    guard let begin = begins[outer], let end = progress.closedUntil[outer] else { return }
    for file in files(seen, of: inner) where begin <= file.start && file.end <= end {
      let odd = file.keys.filter { !known.contains($0.key.secretBytes) }
      #expect(
        odd.isEmpty, "\(odd.count) of \(file.keys.count) keys of \(inner) are not in \(outer)")
    }
  }

  /// No file may have fewer keys than the minimum of its export.
  private static func measure(_ seen: [String: Seen], _ exports: [ExportConfiguration]) {
    for export in exports {
      for file in files(seen, of: export.filenameRoot) {
        #expect(file.keys.count >= export.minimumKeys, "\(export.filenameRoot)")
      }
    }
  }
}
