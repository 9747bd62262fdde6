// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import TextEncodings
import UploadToken
import VerificationAPI
import World

/// The permission to share the keys of the days after a test: one upload token on each following day in UTC.
///
/// It is issued with the token of a code and encrypted under a key of the server, which stores nothing of it:
/// Documentation/Decisions/0037-following-days-need-a-permit.md.
struct FollowUpPermit: Hashable, Sendable, Redacted {
  /// The same value for each request with one code and one HMAC, and no other.
  let chain: Data
  let issuedAt: Date
  let testResult: TestResult

  /// The size of `chain`.
  static let chainBytes = 16

  /// Returns true if the permit gives a token at `now`: from the day after its issue on.
  func isValid(at now: Date) -> Bool {
    now.unixDay > issuedAt.unixDay
      && now < issuedAt.addingTimeInterval(VerificationLimit.followUpSeconds)
  }

  /// The ID of the token of the day of `now`. The key server accepts each ID once, so a permit allows one upload a
  /// day, and a request that is repeated on that day gets a token for the same upload.
  func tokenID(at now: Date, keys: CodeKeys) -> String {
    UUID(hash: keys.hash(of: chain + Data("\(now.unixDay)".utf8), for: .followUpToken)).text
  }
}

// The text of a permit: base64url of nonce, ciphertext and tag.
extension FollowUpPermit {
  /// Decrypts `text`; nil if it is not a permit of this server.
  init?(_ text: String, keys: CodeKeys) {
    // Any text that was not encrypted by this server is no permit, whatever the error.
    guard let sealed = Data(base64URL: text), let box = try? AES.GCM.SealedBox(combined: sealed),
      let content = try? AES.GCM.open(box, using: keys.permitKey)
    else { return nil }
    let fields = String(decoding: content, as: UTF8.self)
      .split(separator: " ", omittingEmptySubsequences: false)
    guard fields.count == 4, let chain = Data(base64URL: fields[0]),
      let issued = Int64(fields[1]), let type = TestType(rawValue: String(fields[2]))
    else { return nil }
    self.chain = chain
    issuedAt = Date(unixSecond: issued)
    testResult = TestResult(
      testType: type, symptomDay: Int(fields[3]).map { CalendarDay(number: $0) })
  }

  /// Encrypts the permit with `nonce`, twelve fresh random bytes.
  func text(keys: CodeKeys, nonce: [UInt8]) throws -> String {
    let fields = [
      chain.base64URL, "\(issuedAt.unixSecond)", testResult.testType.rawValue,
      testResult.symptomDay.map { "\($0.number)" } ?? "",
    ]
    let box = try AES.GCM.seal(
      Data(fields.joined(separator: " ").utf8), using: keys.permitKey,
      nonce: AES.GCM.Nonce(data: nonce))
    return (Data(box.nonce) + box.ciphertext + box.tag).base64URL
  }
}
