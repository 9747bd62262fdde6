// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import ExposureNotification
import Foundation
import Simulation
import World

// The step that measures what each party has of the others' identifiers.
extension DemoSteps {
  /// Checks that neither server has the other's secrets, and that each phone has only identifiers of phones nearby.
  ///
  /// - Parameter keys: All keys of the three phones, published or not.
  func knowledge(code: String, keys: [[UInt8]]) async throws {
    try await recorder.step(
      "two-halves", "Neither server can connect a PIN with a key.",
      on: [.verificationServer, .keyServer]
    ) { facts in
      let kinds = try await identifierKinds(code: code, keys: keys)
      let parties = try evidence().map { $0.knowledge(of: kinds) }
      recorder.knowledge = parties
      try IdentifierCountCheck(parties).run()
      let bytes = parties.map(\.bytes).reduce(0, +)
      facts.append("The verification server has no key, the key server has no PIN.")
      facts.append(
        "Searched \(bytes / 1_024) KiB of databases, exports and messages for each party.")
    }
  }

  private func identifierKinds(code: String, keys: [[UInt8]]) async throws -> [IdentifierKind] {
    let published = try await sharedKeys(of: [participants.diagnosed])
    func beacons(_ name: String, _ lane: DemoLane) -> IdentifierKind {
      IdentifierKind(
        name: "beacons of \(name.capitalized)", owner: lane,
        values: world.air.identifiersSent(by: name).map(\.bytes))
    }
    return [
      IdentifierKind(name: "PIN", owner: nil, values: [Array(code.utf8)]),
      IdentifierKind(name: "published key", owner: .diagnosed, values: published),
      IdentifierKind(
        name: "keys that were not published", owner: nil,
        values: keys.filter { !published.contains($0) }),
      beacons("near", .near), beacons("far", .far), beacons("diagnosed", .diagnosed),
    ]
  }

  /// All that each party has stored or received.
  private func evidence() throws -> [PartyData] {
    try participants.phones.map(evidence(of:)) + [
      PartyData(
        lane: .verificationServer, name: "Verification server",
        content: participants.messages.bodies(to: .verificationServer)
          + authorityFiles { $0.hasPrefix("verification.sqlite") }),
      PartyData(
        lane: .keyServer, name: "Key server",
        content: participants.messages.bodies(to: .keyServer)
          + authorityFiles { $0.hasPrefix("keys.sqlite") }
          + publishedKeys(in: participants.messages.keyFiles(on: .near))),
    ]
  }

  /// The identifiers and files that a phone received. Its storage is encrypted, which an earlier step has checked.
  private func evidence(of phone: SimulatedPhone) throws -> PartyData {
    let lane: DemoLane =
      switch phone.name {
      case "near": .near
      case "far": .far
      default: .diagnosed
      }
    let beacons = world.air.identifiersReceived(by: phone.name).map { Data($0.bytes) }
    let messages = participants.messages
    return PartyData(
      lane: lane, name: "\(phone.name.capitalized)\u{2019}s phone",
      content: beacons + messages.bodies(to: lane)
        + (try publishedKeys(in: messages.keyFiles(on: lane))))
  }

  private func authorityFiles(_ isIncluded: (String) -> Bool) throws -> [Data] {
    let files = try FileManager.default.contentsOfDirectory(
      at: participants.authority.folder, includingPropertiesForKeys: nil)
    return try files.filter { isIncluded($0.lastPathComponent) }.map { try Data(contentsOf: $0) }
  }

  /// The keys in key files, which are compressed.
  private func publishedKeys(in files: [Data]) throws -> [Data] {
    let copy = participants.authority.folder.appendingPathComponent("searched.zip")
    defer { FileManager.default.removeUnneeded(copy) }
    return try files.map { file in
      try file.write(to: copy)
      var keys = Data()
      _ = try UnverifiedKeyFile(at: copy).verified(
        by: try participants.authority.signing.verificationKeys(), batchSize: 4096
      ) { batch in
        for key in batch.keys { keys.append(contentsOf: key.key.secretBytes) }
      }
      return keys
    }
  }
}

/// A party, and all that it has stored or received.
struct PartyData {
  let lane: DemoLane
  let name: String
  /// Messages and files.
  var content: [Data] = []

  /// Counts the identifiers of others in the content.
  func knowledge(of kinds: [IdentifierKind]) -> IdentifierCounts {
    let others = kinds.filter { $0.owner != lane }
    let search = PlainTextSearch(for: others.flatMap(\.values))
    let found = content.reduce(into: Set<Int>()) { $0.formUnion(search.secretsFound(in: $1)) }
    var first = 0
    let counts = others.map { kind in
      defer { first += kind.values.count }
      return IdentifierCounts.Count(
        kind: kind.name, found: found.count { (first..<first + kind.values.count).contains($0) },
        total: kind.values.count)
    }
    return IdentifierCounts(
      party: name, bytes: content.map(\.count).reduce(0, +), counts: counts)
  }
}

/// Identifiers of one kind.
struct IdentifierKind {
  /// The name in the plural or with an article.
  let name: String
  /// The participant that they belong to: its own knowledge of them is not counted.
  let owner: DemoLane?
  let values: [[UInt8]]
}

/// The limits of knowledge that the protocol promises, checked against the counts.
struct IdentifierCountCheck {
  private let counts: [String: [String: Int]]

  init(_ parties: [IdentifierCounts]) {
    counts = Dictionary(
      uniqueKeysWithValues: parties.map { party in
        (party.party, Dictionary(uniqueKeysWithValues: party.counts.map { ($0.kind, $0.found) }))
      })
  }

  /// - Throws: `DemoFailure` if a party has an identifier that it must not have, or lacks one that it needs.
  func run() throws {
    let beacons = ["near", "far", "diagnosed"].map { "beacons of \($0.capitalized)" }
    for (party, found) in counts {
      try require(party, "keys that were not published", 0...0)
      let isPhone = party.hasSuffix("phone")
      for kind in beacons where !(isPhone && party.hasPrefix("Near") && kind == beacons[2]) {
        guard !(isPhone && party.hasPrefix("Diagnosed") && kind == beacons[0]) else { continue }
        try require(party, kind, 0...0)
      }
      if isPhone { try require(party, "PIN", 0...0) }
      try DemoFailure.unless(!found.isEmpty, "nothing was searched for \(party)")
    }
    try require("Near\u{2019}s phone", beacons[2], 1...Int.max)
    try require("Near\u{2019}s phone", "published key", 1...1)
    try require("Verification server", "PIN", 1...1)
    try require("Verification server", "published key", 0...0)
    try require("Key server", "published key", 1...1)
    try require("Key server", "PIN", 0...0)
  }

  /// A party's own identifiers are not counted.
  private func require(_ party: String, _ kind: String, _ allowed: ClosedRange<Int>) throws {
    guard let found = counts[party]?[kind] else { return }
    try DemoFailure.unless(allowed.contains(found), "\(party) has \(found) of: \(kind)")
  }
}
