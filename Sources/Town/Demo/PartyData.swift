import Foundation
import Simulation

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
