import Crypto
import Foundation

/// An action of an official, as it is recorded.
package struct AuditEvent: Hashable, Sendable {
  /// The account that acted; a command of the operator is `AuditEvent.commandLine`.
  let actor: String
  let action: AuditAction
  /// The thing that was changed, such as the UUID of a code or the name of an account.
  let subject: String
  /// Further facts. Never a code, a password or a key.
  let detail: String

  /// The actor of commands.
  package static let commandLine = "command line"

  init(_ actor: String, _ action: AuditAction, _ subject: String = "", detail: String = "") {
    self.actor = actor
    self.action = action
    self.subject = subject
    self.detail = detail
  }
}

/// The actions that are recorded. The raw values are stored.
package enum AuditAction: String, CaseIterable, Sendable {
  case signedIn = "session.started"
  case signInFailed = "session.refused"
  case nameLocked = "session.locked"
  case signedOut = "session.ended"
  case accountAdded = "account.added"
  case accountDisabled = "account.disabled"
  case accountEnabled = "account.enabled"
  case linkMade = "account.link-made"
  case credentialsSet = "account.credentials-set"
  case passkeyAdded = "passkey.added"
  case passkeyRemoved = "passkey.removed"
  case codeIssued = "code.issued"
  case batchIssued = "code.batch-issued"
  case codeExpired = "code.expired"
  case codeLookedUp = "code.looked-up"
  case proposed = "configuration.proposed"
  case approved = "configuration.approved"
  case rejected = "configuration.rejected"
  case paused = "phones.paused"
  case resumed = "phones.resumed"
  case withdrawn = "file.withdrawn"
  case restored = "file.restored"
  case signingKeyRotated = "signing-key.rotated"
  case apiKeyAdded = "api-key.added"
  case apiKeyRevoked = "api-key.revoked"
  case authorityAdded = "authority.added"
  case appAdded = "app.added"
  case auditExported = "audit.exported"
  case failed = "action.failed"
}

/// An entry of the audit log, chained to the entry before it by its hash.
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
  /// SHA-256 over the hash of the entry before and all fields, in lower-case hexadecimal.
  package let hash: String

  /// The entry for `event` that follows the one with the hash `previous`.
  init(_ event: AuditEvent, sequence: Int64, time: Int64, after previous: String) {
    self.init(
      sequence: sequence, time: time, actor: event.actor, action: event.action.rawValue,
      subject: event.subject, detail: event.detail, previousHash: previous,
      hash: Self.hash(
        after: previous, sequence, time,
        [event.actor, event.action.rawValue, event.subject, event.detail]))
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

  /// True if the hash is that of the fields.
  var isIntact: Bool {
    hash == Self.hash(after: previousHash, sequence, time, [actor, action, subject, detail])
  }

  /// The entry as a line of JSON with sorted names.
  package var line: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Each field is preceded by its length, so that no two entries have the same input.
  private static func hash(
    after previous: String, _ sequence: Int64, _ time: Int64, _ fields: [String]
  ) -> String {
    var hash = SHA256()
    hash.update(data: Data(previous.utf8))
    for number in [sequence, time] { hash.update(data: bigEndian(number)) }
    for field in fields {
      hash.update(data: bigEndian(Int64(field.utf8.count)))
      hash.update(data: Data(field.utf8))
    }
    return hash.finalize().map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }

  private static func bigEndian(_ number: Int64) -> Data {
    withUnsafeBytes(of: number.bigEndian) { Data($0) }
  }
}
