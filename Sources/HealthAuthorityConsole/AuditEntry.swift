// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import Secrets
import TextEncodings

/// An entry of the audit log, chained to the entry before it by its hash.
///
/// The hash has a key that is not in the database: an attacker who can write to the database cannot compute it.
package struct AuditEntry: Codable, Hashable, Sendable {
  /// 1 for the first entry; without gaps.
  package let sequence: Int64
  /// Unix seconds.
  package let time: Int64
  package let actor: String
  package let action: String
  package let subject: String
  package let detail: String
  /// The hash of the entry before, in lower-case hexadecimal; zeros for the first entry.
  package let previousHash: String
  /// HMAC-SHA256 over the hash of the entry before and all fields, in lower-case hexadecimal. In entries of the first
  /// versions it is SHA-256.
  package let hash: String

  /// The entry for `event` that follows the one with the hash `previous`.
  ///
  /// - Parameter key: The key of the log; nil for an entry of the first versions.
  init(
    _ event: AuditEvent, sequence: Int64, time: Int64, after previous: String, key: AuditKey?
  ) {
    self.init(
      sequence: sequence, time: time, actor: event.actor, action: event.action.rawValue,
      subject: event.subject, detail: event.detail, previousHash: previous,
      hash: Self.hash(
        after: previous, sequence, time,
        [event.actor, event.action.rawValue, event.subject, event.detail], key: key))
  }

  init(_ row: Row) {
    let (previous, hash): (Data, Data) = (row["previous_hash"], row["hash"])
    self.init(
      sequence: row["sequence"], time: row["time"], actor: row["actor"], action: row["action"],
      subject: row["subject"], detail: row["detail"], previousHash: previous.hexadecimal,
      hash: hash.hexadecimal)
  }

  init(
    sequence: Int64, time: Int64, actor: String, action: String, subject: String, detail: String,
    previousHash: String, hash: String
  ) {
    self.sequence = sequence
    self.time = time
    self.actor = actor
    self.action = action
    self.subject = subject
    self.detail = detail
    self.previousHash = previousHash
    self.hash = hash
  }

  /// The hash before the first entry.
  static let zeroHash = String(repeating: "0", count: 2 * SHA256.byteCount)

  /// True if the hash is that of the fields under `key`.
  func isIntact(_ key: AuditKey?) -> Bool {
    isEqualInConstantTime(
      hash.utf8,
      Self.hash(
        after: previousHash, sequence, time, [actor, action, subject, detail], key: key
      ).utf8)
  }

  /// The entry as a line of JSON with sorted names.
  package var line: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder.encodeIfPossible(self).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Each field is preceded by its length, so that no two entries have the same input.
  private static func hash(
    after previous: String, _ sequence: Int64, _ time: Int64, _ fields: [String], key: AuditKey?
  ) -> String {
    var input = Data(previous.utf8)
    for number in [sequence, time] { input += bigEndian(number) }
    for field in fields {
      input += bigEndian(Int64(field.utf8.count))
      input += Data(field.utf8)
    }
    return key?.code(of: input).hexadecimal ?? SHA256.hash(data: input).hexadecimal
  }

  private static func bigEndian(_ number: Int64) -> Data {
    withUnsafeBytes(of: number.bigEndian) { Data($0) }
  }
}
