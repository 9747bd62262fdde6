// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings

/// Verifies an audit log, whose entries are passed in their order.
///
/// Entries without the key count only before the first one with it, whose hash includes theirs.
package struct AuditChain: Sendable {
  /// The number of entries so far.
  package private(set) var count: Int64 = 0
  /// The hash of the last entry. An operator who stores it elsewhere can detect later that entries at the end were
  /// removed.
  package private(set) var head = AuditEntry.zeroHash
  private let key: AuditKey
  private var firstFault: String?
  private var hasKeyed = false

  package init(key: AuditKey) { self.key = key }

  /// The first fault, in one sentence.
  package var fault: String? {
    if let firstFault { return firstFault }
    return count > 0 && !hasKeyed
      ? "No entry was written with the console's secret: the log was replaced." : nil
  }

  /// Checks the next entry.
  package mutating func append(_ entry: AuditEntry) {
    count += 1
    defer { head = entry.hash }
    guard firstFault == nil else { return }
    if entry.sequence != count {
      firstFault = "Entry \(count) is missing: the log continues with entry \(entry.sequence)."
    } else if entry.previousHash != head {
      firstFault =
        "Entry \(entry.sequence) does not follow the entry before it: one of them was replaced."
    } else if entry.isIntact(key) {
      hasKeyed = true
    } else if hasKeyed || !entry.isIntact(nil) {
      firstFault = "Entry \(entry.sequence) was changed: its hash is not that of its fields."
    }
  }

  /// Checks an exported log, one entry a line.
  package mutating func append(lines text: String) {
    let decoder = JSONDecoder()
    for line in text.split(separator: "\n") {
      guard let entry = decoder.decodeIfValid(AuditEntry.self, from: Data(line.utf8)) else {
        firstFault = firstFault ?? "Line \(count + 1) is not an entry of an audit log."
        count += 1
        continue
      }
      append(entry)
    }
  }
}
