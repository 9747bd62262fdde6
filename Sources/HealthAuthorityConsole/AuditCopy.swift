// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings

/// Verifies the copies of `AuditForwarder`, line by line, the oldest file first.
///
/// A crash repeats entries, a syslog daemon writes its own words before each and other programs' lines between them,
/// and old files are removed: a copy begins with any entry. Each entry is proved by the console's key, and from the
/// first one on none may be missing.
package struct AuditCopy: Sendable {
  /// The number of entries, without repetitions.
  package var count: Int64 { Int64(hashes.count) }
  /// The number of the first entry; 0 without entries.
  package private(set) var first: Int64 = 0
  /// The number of entries that were copied more than once.
  package private(set) var repeated = 0
  /// The hash of the last entry.
  package var head: String { chain.head }
  private var chain: AuditChain
  private var hashes: [Int64: String] = [:]
  private var ownFault: String?

  package init(_ chain: AuditChain) {
    self.chain = chain
  }

  /// The first fault, in one sentence.
  package var fault: String? {
    if let ownFault { return ownFault }
    return hashes.isEmpty ? "The copy has no entry of the audit log." : chain.fault
  }

  /// Checks the lines of the next file, and calls `seen` with the hash of the last entry after each.
  ///
  /// A crash may have cut the last entry of a file that another program has renamed since. It is in the next file
  /// again: if it is not, an entry is missing.
  package mutating func append(file text: String, seen: (_ head: String) -> Void = { _ in }) {
    let lineFeed: Character = "\n"
    let lines = text.split(separator: lineFeed)
    for (index, line) in lines.enumerated() {
      append(line: line, mayBeCut: index == lines.count - 1 && text.last != lineFeed)
      seen(head)
    }
  }

  /// Checks the next line.
  ///
  /// - Parameters:
  ///   - line: The line without a line feed.
  ///   - mayBeCut: True if it is the last one of a file and had no line feed. Then it may be a part of an entry.
  package mutating func append(line: some StringProtocol, mayBeCut: Bool = false) {
    guard let entry = entry(in: line, mayBeCut: mayBeCut) else { return }
    if let known = hashes[entry.sequence] {
      repeated += 1
      guard known != entry.hash else { return }
      ownFault =
        ownFault
        ?? "Entry \(entry.sequence) was copied twice and differs: it was changed, or the log was replaced,"
        + " such as by a restoration; then verify the copies from before and after it separately."
      return
    }
    if hashes.isEmpty {
      first = entry.sequence
      chain.begin(with: entry)
    }
    hashes[entry.sequence] = entry.hash
    chain.append(entry)
  }

  /// The entry in a line; nil for a line of another program, and for a part of an entry.
  private mutating func entry(in line: some StringProtocol, mayBeCut: Bool) -> AuditEntry? {
    let own = line.range(of: AuditForwarder.tag).map { String(line[$0.upperBound...]) }
    // The whole line first: a reason in an entry may contain the tag.
    for text in [String(line)] + (own.map { [$0] } ?? []) {
      if let entry = JSONDecoder().decodeIfValid(AuditEntry.self, from: Data(text.utf8)) {
        return entry
      }
    }
    if !mayBeCut, own != nil || line.hasPrefix("{") {
      ownFault = ownFault ?? "A line after \(count) entries is not an entry of an audit log."
    }
    return nil
  }
}
