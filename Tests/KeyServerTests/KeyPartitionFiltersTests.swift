// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import PostgreSQL
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite(
  "PostgreSQL key store: filters of the keys of earlier days",
  .enabled(if: PrivatePostgreSQL.isAvailable))
struct KeyPartitionFiltersTests {
  private static let nextDay = StoreScene.now + 24 * StoreScene.hour
  private static let day = nextDay.unixDay

  /// A store on the second day, with the key 1 of the first and the key 2 of the second day.
  private func scene() async throws -> (scene: StoreScene, store: PostgreSQLKeyStore) {
    let scene = try await StoreScene(.postgresql)
    let store = try #require(scene.store as? PostgreSQLKeyStore)
    try await scene.accept([try StoreScene.key(1)])
    try await scene.close(at: Self.nextDay)
    try await scene.accept([try StoreScene.key(2)], at: Self.nextDay)
    return (scene, store)
  }

  /// Waits until the filters of all earlier days are loaded.
  private func loadFilters(of store: PostgreSQLKeyStore) async throws {
    let moment = try await store.read { try KeyPartitionFilters.Moment($0) }
    try await Patience.until {
      await store.filters.follow(moment, in: store.database)?.value
      return store.filters.lookup([]).firstDay == moment.openDay
    }
    #expect(store.filters.lookup([]).firstDay == moment.openDay)
  }

  private func key(_ byte: UInt8) throws -> PublishableKey {
    try StoreScene.key(byte, .confirmedTest)
  }

  /// The counts of what an upload of `keys` changed.
  private func outcome(
    of keys: [PublishableKey], _ scene: StoreScene, revising: Bool = false
  ) async throws -> String {
    let acceptance = try await scene.accept(keys, revising: revising, at: Self.nextDay)
    guard case .accepted(let response) = acceptance else { return "rejected" }
    return String(decoding: response, as: UTF8.self)
  }

  @Test("Keys of earlier days are found before and after their filter was loaded, new ones are not")
  func found() async throws {
    let (scene, store) = try await scene()
    let fresh = try #require(
      try await scene.open(scene.exports, Self.nextDay) as? PostgreSQLKeyStore)
    #expect(fresh.filters.lookup([]).firstDay < Self.day)
    let upload = try StoreScene.upload("t", [try key(1), try key(3)], at: Self.nextDay)
    #expect(
      try await fresh.accept(upload)
        == .accepted(response: Data("StoredUploadCounts(1 inserted, 0 revised)".utf8)))
    try await loadFilters(of: store)
    let lookup = store.filters.lookup(try (1...4).map { try key($0) })
    let stored = try key(1).key.key.secretWords
    #expect(lookup.firstDay == Self.day)
    #expect(lookup.suspects.contains { $0 == stored })
    #expect(lookup.suspects.count < 4)
    let keys = try (1...4).map { try key($0) }
    #expect(try await outcome(of: keys, scene) == "StoredUploadCounts(1 inserted, 0 revised)")
    #expect(
      try await outcome(of: [try key(1)], scene, revising: true)
        == "StoredUploadCounts(0 inserted, 1 revised)")
  }

  @Test("The filters of a day that ends are loaded, with the keys of other processes")
  func followingDay() async throws {
    let (scene, store) = try await scene()
    try await loadFilters(of: store)
    let other = try await scene.open(scene.exports, Self.nextDay)
    let foreign = try StoreScene.upload("other", [try key(5)], at: Self.nextDay)
    guard case .accepted = try await other.accept(foreign) else {
      Issue.record("rejected")
      return
    }
    try await scene.close(at: Self.nextDay + 24 * StoreScene.hour)
    #expect(try await outcome(of: [try key(5)], scene).hasPrefix("StoredUploadCounts(0 inserted"))
    try await loadFilters(of: store)
    #expect(store.filters.lookup([]).firstDay == Self.day + 1)
    #expect(try await outcome(of: [try key(5)], scene).hasPrefix("StoredUploadCounts(0 inserted"))
    #expect(try await outcome(of: [try key(6)], scene).hasPrefix("StoredUploadCounts(1 inserted"))
  }

  @Test("At an earlier day of the database, the keys of that day are searched")
  func restored() async throws {
    let (scene, store) = try await scene()
    try await loadFilters(of: store)
    try await store.write {
      _ = try $0.run(
        "UPDATE period_progress SET closed_until = $1", .integer(StoreScene.now.unixSecond))
    }
    let other = try await scene.open(scene.exports, StoreScene.now)
    _ = try await other.accept(StoreScene.upload("other", [try key(7)]))
    #expect(try await outcome(of: [try key(7)], scene).hasPrefix("StoredUploadCounts(0 inserted"))
    #expect(store.filters.lookup([]).firstDay < Self.day)
  }

  @Test("With another history of the database, as after a promotion, the filters are forgotten")
  func promoted() async throws {
    let (_, store) = try await scene()
    try await loadFilters(of: store)
    let lookup = store.filters.lookup([try key(1)])
    let moment = try await store.read { try KeyPartitionFilters.Moment($0) }
    let again = try await store.read { try KeyPartitionFilters.Moment($0) }
    #expect(moment == again && !moment.history.isEmpty)
    #expect(store.filters.confirm(lookup, at: moment))
    let promoted = KeyPartitionFilters.Moment(history: "other", openDay: moment.openDay)
    #expect(!store.filters.confirm(lookup, at: promoted))
    #expect(store.filters.lookup([try key(1)]).suspects.isEmpty)
    #expect(store.filters.lookup([]).firstDay < 0)
    try await loadFilters(of: store)
    #expect(store.filters.confirm(store.filters.lookup([]), at: moment))
  }

  @Test("A filter contains all of its keys, and few others")
  func filter() {
    let hashes = (0..<20_000).map { StoredKeyFilter.hash(of: (UInt64($0), 0)) }
    var filter = StoredKeyFilter(keyCount: 10_000)
    hashes[..<10_000].forEach { filter.insert($0) }
    #expect(hashes[..<10_000].allSatisfy(filter.mayContain))
    // One in twenty thousand is expected.
    #expect(hashes[10_000...].count(where: filter.mayContain) < 10)
    #expect(!StoredKeyFilter(keyCount: 0).mayContain(hashes[0]))
  }
}
