import Foundation

/// Verifies an audit log, whose entries are passed in their order.
package struct AuditChain: Sendable {
  /// The number of entries so far.
  package private(set) var count: Int64 = 0
  /// The hash of the last entry. An operator who stores it elsewhere can detect later that entries at the end were
  /// removed.
  package private(set) var head = AuditEntry.zeroHash
  /// The first fault, in one sentence.
  package private(set) var fault: String?

  package init() {}

  /// Checks the next entry.
  package mutating func append(_ entry: AuditEntry) {
    count += 1
    defer { head = entry.hash }
    guard fault == nil else { return }
    if entry.sequence != count {
      fault = "Entry \(count) is missing: the log continues with entry \(entry.sequence)."
    } else if entry.previousHash != head {
      fault =
        "Entry \(entry.sequence) does not follow the entry before it: one of them was replaced."
    } else if !entry.isIntact {
      fault = "Entry \(entry.sequence) was changed: its hash is not that of its fields."
    }
  }

  /// Checks an exported log, one entry a line.
  package mutating func append(lines text: String) {
    let decoder = JSONDecoder()
    for line in text.split(separator: "\n") {
      guard let entry = try? decoder.decode(AuditEntry.self, from: Data(line.utf8)) else {
        fault = fault ?? "Line \(count + 1) is not an entry of an audit log."
        count += 1
        continue
      }
      append(entry)
    }
  }
}
