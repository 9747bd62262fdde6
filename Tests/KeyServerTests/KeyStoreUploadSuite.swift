// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import KeyServer

/// Uploads, for every implementation of `KeyStore`.
@Suite("Key store: uploads") struct KeyStoreUploadSuite {
  typealias Implementation = StoreImplementation

  private struct Broken: Error {}

  @Test(
    "A token is spent by one upload; the same upload gets its response again, another is rejected",
    arguments: Implementation.allCases)
  func token(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    let keys = try (1...2).map { try StoreScene.key($0) }
    let upload = try StoreScene.upload("t", keys) { _ in Data("first".utf8) }
    #expect(try await scene.store.acceptance(of: upload) == nil)
    #expect(try await scene.store.accept(upload) == .accepted(response: Data("first".utf8)))
    let again = try StoreScene.upload("t", keys) { _ in Data("second".utf8) }
    #expect(try await scene.store.accept(again) == .accepted(response: Data("first".utf8)))
    #expect(try await scene.store.acceptance(of: again) == .accepted(response: Data("first".utf8)))
    let other = try StoreScene.upload("t", [try StoreScene.key(3)])
    #expect(try await scene.store.acceptance(of: other) == .tokenUsed)
    #expect(try await scene.store.accept(other) == .tokenUsed)
    // Neither the repeated nor the other upload was stored or counted.
    #expect(try await scene.counts(.uploads) == [UploadPlatform.ios.rawValue: 1])
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    #expect(try await scene.files().map(\.names) == [[1, 2]])
  }

  @Test(
    "A reissued token with a later expiry counts as the same token",
    arguments: Implementation.allCases)
  func reissued(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    let keys = [try StoreScene.key(1)]
    let first = try StoreScene.upload("t", keys) { _ in Data("first".utf8) }
    _ = try await scene.store.accept(first)
    for hours in [1.0, 3, 25] {
      let later = StoreScene.now + hours * StoreScene.hour
      let again = try StoreScene.upload("t", keys, at: later)
      #expect(again.token.keptUntil > first.token.keptUntil)
      #expect(
        try await scene.store.acceptance(of: again) == .accepted(response: Data("first".utf8)))
      #expect(try await scene.store.accept(again) == .accepted(response: Data("first".utf8)))
      let other = try StoreScene.upload("t", [try StoreScene.key(2)], at: later)
      #expect(try await scene.store.accept(other) == .tokenUsed)
    }
    #expect(try await scene.counts(.uploads) == [UploadPlatform.ios.rawValue: 1])
  }

  @Test(
    "An upload whose response cannot be created is not stored, and its token stays valid",
    arguments: Implementation.allCases)
  func responseFails(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    let old = [try StoreScene.key(1)]
    try await scene.accept(old)
    let keys = [try StoreScene.key(1, .confirmedTest), try StoreScene.key(2)]
    let broken = try StoreScene.upload("t", keys, revising: Set(old.map(\.key.key))) { outcome in
      // Only the transaction finds out that a key is stored.
      guard outcome.revised == 0 else { throw Broken() }
      return Data()
    }
    await #expect(throws: Broken.self) { try await scene.store.accept(broken) }
    #expect(try await scene.store.acceptance(of: broken) == nil)
    #expect(try await scene.counts(.uploads).values.reduce(0, +) == 1)
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    let file = try #require(try await scene.files().first)
    #expect(file.names == [1] && file.keys[0].reportType == .confirmedClinicalDiagnosis)
    let good = try StoreScene.upload("t", keys, revising: Set(old.map(\.key.key)))
    #expect(
      try await scene.store.accept(good)
        == .accepted(response: Data("StoredUploadCounts(1 inserted, 1 revised)".utf8)))
  }

  @Test(
    "An upload with a rejected revision is not stored, and its token stays unused",
    arguments: Implementation.allCases)
  func refused(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    try await scene.accept([try StoreScene.key(1)])
    let keys = [try StoreScene.key(2), try StoreScene.key(1, .confirmedTest)]
    let stranger = try StoreScene.upload("t", keys, revising: [])
    #expect(try await scene.store.accept(stranger) == .refused(.invalidToken))
    #expect(try await scene.store.acceptance(of: stranger) == nil)
    #expect(try await scene.counts(.keys) == [0: 1])
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    #expect(try await scene.files().map(\.names) == [[1]])
  }

  @Test(
    "Of concurrent uploads with one token exactly one is accepted",
    arguments: Implementation.allCases)
  func atOnce(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    let acceptedCount = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in UInt8(1)...40 {
        let upload = try StoreScene.upload("t", [try StoreScene.key(number)])
        group.addTask { try await scene.store.accept(upload) != .tokenUsed }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(acceptedCount == 1)
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    #expect(try await scene.files().map(\.keys.count) == [1])
    #expect(try await scene.counts(.keys) == [0: 1])
  }

  @Test(
    "A stored key stays unchanged if no revision token covers it",
    arguments: Implementation.allCases)
  func known(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    try await scene.accept([try StoreScene.key(1)])
    let again = try StoreScene.key(1, .confirmedTest, regions: ["CZ"], travels: true)
    try await scene.accept([again, try StoreScene.key(2)])
    #expect(try await scene.counts(.keys) == [0: 2])
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    let file = try #require(try await scene.files().first)
    #expect(file.names == [1, 2] && file.keys[0].reportType == .confirmedClinicalDiagnosis)
  }

  @Test(
    "A key is revised at most once, and closed files keep its first report type",
    arguments: Implementation.allCases)
  func revised(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    try await scene.accept([try StoreScene.key(1)])
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    let before = try await scene.files()
    let better = [try StoreScene.key(1, .confirmedTest)]
    try await scene.accept(better, revising: true)
    // Repeating the revision changes nothing.
    try await scene.accept(better, revising: true)
    #expect(try await scene.counts(.revisions) == [0: 1])
    let withdrawn = [try StoreScene.key(1, .revoked)]
    let third = try StoreScene.upload("third", withdrawn, revising: Set(withdrawn.map(\.key.key)))
    #expect(try await scene.store.accept(third) == .refused(.alreadyRevised))
    try await scene.close(at: StoreScene.now + 8 * StoreScene.hour)
    let files = try await scene.files()
    #expect(files.count == 2 && files[0] == before[0])
    #expect(files[1].keys.isEmpty && files[1].revised == better.map(\.key))
  }

  @Test(
    "Uploads are counted by hour, kind and authority",
    arguments: Implementation.allCases)
  func counted(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    let later = StoreScene.now + StoreScene.hour
    for (number, issuer, platform, now) in [
      (1, "codes", .ios, StoreScene.now), (2, "codes", .ios, StoreScene.now + 3_599),
      (3, "codes", .android, later), (4, "other", .ios, later),
    ] as [(UInt8, String, UploadPlatform, Date)] {
      let upload = try StoreScene.upload(
        "\(number)", [try StoreScene.key(number)], issuer: issuer, platform: platform, at: now)
      _ = try await scene.store.accept(upload)
    }
    let (ios, android) = (UploadPlatform.ios.rawValue, UploadPlatform.android.rawValue)
    #expect(try await scene.counts(.uploads) == [ios: 2, android: 1])
    #expect(try await scene.counts(.uploads, of: "other") == [ios: 1])
    #expect(try await scene.counts(.uploads, of: "nobody").isEmpty)
    let hour = Int64(later.timeIntervalSince1970)
    #expect(try await scene.counts(.keys, from: hour) == [0: 1])
    #expect(try await scene.counts(.keys, from: hour + 1).isEmpty)
    #expect(
      try await scene.store.statistics(of: "codes", from: hour - 3_600).count {
        $0.place.kind == .keys
      } == 2)
  }

  @Test("Reopening the database preserves all data", arguments: Implementation.allCases)
  func reopened(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    let upload = try StoreScene.upload("t", [try StoreScene.key(1)])
    let acceptance = try await scene.store.accept(upload)
    try await scene.close(at: StoreScene.now + 4 * StoreScene.hour)
    let file = try await scene.files()
    let again = try await scene.open(scene.exports, StoreScene.now + 9 * StoreScene.hour)
    #expect(try await again.acceptance(of: upload) == acceptance)
    #expect(try await again.batches() == scene.store.batches())
    #expect(try await again.exportProgress() == scene.store.exportProgress())
    #expect(try await scene.files() == file)
  }
}
