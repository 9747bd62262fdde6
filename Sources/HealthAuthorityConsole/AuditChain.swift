// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings

/// Verifies an audit log, whose entries are passed in their order.
///
/// Entries without the key are accepted only before the first entry with it, whose hash covers their
/// number and the hash of the last one. Both must be those of `AuditStart`, whichever action that
/// entry has: an action may have been recorded before the upgrade was complete. Until the start is
/// stored, only the entry of the upgrade may follow them.
package struct AuditChain: Sendable {
  /// The number of entries so far.
  package private(set) var count: Int64 = 0
  /// The hash of the last entry. An operator who stores it elsewhere can detect later that entries at the end were
  /// removed.
  package private(set) var head = AuditEntry.zeroHash
  private let key: AuditKey
  private let start: AuditStart?
  private var firstFault: String?
  private var hasKeyed = false

  /// - Parameter start: The start that is stored beside the key; nil if the log was not upgraded yet.
  package init(key: AuditKey, start: AuditStart?) {
    self.key = key
    self.start = start
  }

  /// The first fault, in one sentence.
  package var fault: String? {
    if let firstFault { return firstFault }
    guard !hasKeyed, count > 0 || start ?? .empty != .empty else { return nil }
    return start == nil
      ? "No entry was written with the console's secret: the log was replaced, or it is of a version without a key;"
        + " then start the console once."
      : "No entry was written with the console's secret: the log was replaced."
  }

  /// Lets the log begin with a later entry than the first, for copies of which older ones were removed. All its entries
  /// must have the key.
  mutating func begin(with entry: AuditEntry) {
    guard entry.sequence > 1 else { return }
    (count, head, hasKeyed) = (entry.sequence - 1, entry.previousHash, true)
  }

  /// Checks the next entry.
  package mutating func append(_ entry: AuditEntry) {
    let before = AuditStart(entries: count, head: head)
    count += 1
    head = entry.hash
    guard firstFault == nil else { return }
    if entry.sequence != count {
      firstFault = "Entry \(count) is missing: the log continues with entry \(entry.sequence)."
    } else if entry.previousHash != before.head {
      firstFault =
        "Entry \(entry.sequence) does not follow the entry before it: one of them was replaced."
    } else if entry.isIntact(key) {
      if !hasKeyed, !isStart(before, of: entry) {
        firstFault =
          "The \(before.entries) entries before entry \(entry.sequence) are not those of the upgrade:"
          + " they were replaced."
      }
      hasKeyed = true
    } else if hasKeyed || !entry.isIntact(nil) {
      firstFault = "Entry \(entry.sequence) was changed: its hash is not that of its fields."
    }
  }

  /// True if the first entry with a key may follow the entries of `before`. Its hash covers their number and head.
  private func isStart(_ before: AuditStart, of entry: AuditEntry) -> Bool {
    guard let start else {
      return before == .empty || entry.action == AuditAction.auditKeyed.rawValue
    }
    return before == start
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
