// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import KeyServer

/// Apps, authorities and sealing keys, for every implementation of `KeyStore`.
@Suite("Key store: apps, authorities and sealing keys") struct KeyStoreRegistrySuite {
  typealias Implementation = StoreImplementation
  private static let now = StoreScene.now

  private static func key(
    _ id: String, _ pem: String, until end: Date? = nil, isPulled: Bool = true
  ) -> AuthorityKey {
    AuthorityKey(
      keyID: id, publicKeyPEM: pem, goodFrom: Date(timeIntervalSince1970: 0), goodUntil: end,
      isPulled: isPulled)
  }

  @Test(
    "An app replaces the one with the same ID", arguments: Implementation.allCases)
  func apps(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    let other = AuthorizedApp(id: "a", regions: [], authorities: [])
    try await scene.store.add(
      AuthorizedApp(id: "b", regions: ["PL", "CZ"], authorities: ["x", "y"]))
    try await scene.store.add(other)
    let changed = AuthorizedApp(id: "b", regions: ["DE"], authorities: ["y", "z"])
    try await scene.store.add(changed)
    #expect(try await scene.store.registryEntries().apps == [other, changed])
  }

  @Test(
    "An authority replaces the one with the same issuer, whose other keys stay",
    arguments: Implementation.allCases
  )
  func authorities(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    try await scene.store.add(
      HealthAuthority(
        issuer: "i", audience: "a", publicKeysPEM: ["k1": "one", "k2": "two"],
        jwksURL: URL(string: "https://example.org/keys"), seesStatistics: true))
    try await scene.store.add(
      HealthAuthority(issuer: "i", audience: "b", publicKeysPEM: ["k2": "new", "k3": "three"]))
    try await scene.store.add(HealthAuthority(issuer: "h", audience: "c"))
    let entries = try await scene.store.registryEntries()
    #expect(
      entries.authorities == [
        HealthAuthority(issuer: "h", audience: "c"), HealthAuthority(issuer: "i", audience: "b"),
      ])
    #expect(
      entries.keys == [
        "i": [
          Self.key("k1", "one", isPulled: false), Self.key("k2", "new", isPulled: false),
          Self.key("k3", "three", isPulled: false),
        ]
      ])
  }

  @Test(
    "Pulled keys that left the key set expire once, may return, and are removed when they expire",
    arguments: Implementation.allCases)
  func pulled(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    func pull(_ keys: [String: String], at seconds: TimeInterval) async throws -> [AuthorityKey]? {
      try await scene.store.replacePulledKeys(
        of: "i", with: keys, at: Self.now + seconds, othersEnd: Self.now + seconds + 100)
      return try await scene.store.registryEntries().keys["i"]
    }
    try await scene.store.add(
      HealthAuthority(issuer: "i", audience: "a", publicKeysPEM: ["hand": "h"]))
    try await scene.store.add(
      HealthAuthority(issuer: "j", audience: "a", publicKeysPEM: ["other": "o"]))
    let hand = Self.key("hand", "h", isPulled: false)
    #expect(
      try await pull(["k1": "one", "k2": "two"], at: 0) == [
        hand, Self.key("k1", "one"), Self.key("k2", "two"),
      ])
    let ended = Self.key("k1", "one", until: Self.now + 110)
    #expect(try await pull(["k2": "new"], at: 10) == [hand, ended, Self.key("k2", "new")])
    #expect(try await pull(["k2": "new"], at: 109) == [hand, ended, Self.key("k2", "new")])
    #expect(try await pull(["k2": "new"], at: 110) == [hand, Self.key("k2", "new")])
    let gone = Self.key("k2", "new", until: Self.now + 220)
    #expect(try await pull(["k3": "three"], at: 120) == [hand, gone, Self.key("k3", "three")])
    let back = [hand, Self.key("k2", "back"), Self.key("k3", "three")]
    #expect(try await pull(["k2": "back", "k3": "three"], at: 130) == back)
    #expect(try await scene.store.registryEntries().keys["j"]?.map(\.publicKeyPEM) == ["o"])
  }

  @Test(
    "Sealing keys are read oldest first and removed by ID", arguments: Implementation.allCases)
  func sealingKeys(_ implementation: Implementation) async throws {
    let scene = try await StoreScene(implementation)
    let keys = (0..<3).map { number in
      SealedRevisionKey(
        id: "\(9 - number)", sealed: Data([UInt8(number)]),
        effectiveFrom: Self.now + Double(number))
    }
    #expect(try await scene.store.revisionKeys().isEmpty)
    try await scene.store.add(keys[1], forgetting: [])
    try await scene.store.add(keys[0], forgetting: ["no such key"])
    #expect(try await scene.store.revisionKeys() == [keys[0], keys[1]])
    try await scene.store.add(keys[2], forgetting: [keys[0].id])
    #expect(try await scene.store.revisionKeys() == [keys[1], keys[2]])
  }
}
