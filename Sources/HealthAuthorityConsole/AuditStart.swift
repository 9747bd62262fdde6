// SPDX-License-Identifier: Apache-2.0

/// The entries without a key at the beginning of an audit log, which a version without a key wrote.
///
/// It is stored beside the console's secret, outside the database, when the log gets its first entry with a key. From
/// then on other entries without a key are not accepted.
package struct AuditStart: Codable, Hashable, Sendable {
  /// The number of entries without a key.
  package let entries: Int64
  /// The hash of the last one of them; zeros if there is none.
  package let head: String

  package init(entries: Int64, head: String) {
    self.entries = entries
    self.head = head
  }

  /// The start of a log whose entries all have a key.
  package static let empty = AuditStart(entries: 0, head: AuditEntry.zeroHash)

  /// The detail of the entry that states the start under the key.
  var detail: String { "\(entries) entries before, head \(head)" }
}
