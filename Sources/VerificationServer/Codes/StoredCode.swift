// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Secrets
import VerificationAPI
import World

/// A code to be stored; it contains only hashes of the characters.
struct HashedCode: Hashable, Sendable {
  /// The hash of the PIN or the short code.
  var hash: CodeHash
  /// The form of the PIN or the short code, by which live codes are counted.
  var form: CodeForm
  var testResult: TestResult
  /// The last second at which the PIN or the short code is valid.
  var expiresAt: Date
  /// The hash of the long code in the link, if there is one.
  var longHash: CodeHash?
  /// The last second at which the long code is valid; without one, that of the short code.
  var longExpiresAt: Date
  /// The UUID for requests of the status.
  var handle: UUID?
  /// The API key that issued the code.
  var issuer: APIKeyID?
  /// The client's name for the issuer. It is counted, and not stored with the code.
  var externalIssuer: String?
  /// The hash of the nonce that must be sent with the code, for user reports.
  var nonceHash: Data?
  /// The hash of the phone number, for user reports.
  var phoneHash: Data?

  init(
    hash: CodeHash, form: CodeForm = CodeForm(.pin, VerificationCode.characterCounts.lowerBound),
    testResult: TestResult, expiresAt: Date
  ) {
    self.hash = hash
    self.form = form
    self.testResult = testResult
    self.expiresAt = expiresAt
    longExpiresAt = expiresAt
  }
}

/// The result of storing one code.
enum IssueOutcome: Hashable, Sendable {
  case stored
  /// A live code has the same hash: draw another.
  case codeTaken
  /// A code with the same handle exists.
  case handleTaken
  /// The phone reported recently.
  case phoneBusy
}

/// A code as the storage returns it, live or not.
struct StoredCode: Hashable, Sendable {
  var testResult: TestResult
  /// The redemption, if the code was used.
  var redemption: Redemption?
  /// The hash of the nonce that must be sent with the code, for user reports.
  var nonceHash: Data?
  /// The last second at which the requested form of the code is valid.
  var expiresAt: Date
  /// True if the verification token of the code was exchanged for a certificate.
  var isExchanged = false
  /// True if a canary issued the code, which then gives tokens for synthetic phones only.
  var isCanary = false

  /// Returns true through the last second before the expiry.
  func isLive(at now: Date) -> Bool { now < expiresAt.addingTimeInterval(1) }
}

/// The status of an issued code.
struct CodeStatus: Hashable, Sendable {
  var isClaimed: Bool
  var expiresAt: Date
  var longExpiresAt: Date
  /// The API key that issued the code.
  var issuer: APIKeyID?
}

extension CodeStatus {
  /// The status after the code is ended one second before `now`, unless it ended earlier.
  func ended(before now: Date) -> CodeStatus {
    let end = Date(unixSecond: now.unixSecond - 1)
    var copy = self
    copy.expiresAt = min(expiresAt, end)
    copy.longExpiresAt = min(longExpiresAt, end)
    return copy
  }
}

/// A user report of a phone, and the time until its next report is allowed.
struct PhoneReport: Hashable, Sendable {
  /// The keyed hash of the phone number.
  let phoneHash: Data
  /// The earliest time of the next report, in whole seconds.
  private(set) var freeAt: Date
  /// The earliest time of the next report if the code is used.
  let freeAtWhenClaimed: Date

  init(phoneHash: Data, freeAt: Date, freeAtWhenClaimed: Date) {
    self.phoneHash = phoneHash
    self.freeAt = freeAt
    self.freeAtWhenClaimed = freeAtWhenClaimed
  }

  /// A report at `now`.
  init(phoneHash: Data, at now: Date) {
    let second = Date(unixSecond: now.unixSecond)
    self.init(
      phoneHash: phoneHash,
      freeAt: second.addingTimeInterval(VerificationLimit.reportUnclaimedSeconds),
      freeAtWhenClaimed: second.addingTimeInterval(VerificationLimit.reportAgainSeconds))
  }

  /// The report after its code was used, which extends the wait.
  var claimed: PhoneReport {
    var copy = self
    copy.freeAt = freeAtWhenClaimed
    return copy
  }

  /// Returns true if the phone must wait at `now`.
  func isBusy(at now: Date) -> Bool { Date(unixSecond: now.unixSecond) < freeAt }
}

/// The use of a code: the issued token, and the value that a retry must reproduce to get the token again.
struct Redemption: Hashable, Sendable {
  /// The value that a retry must reproduce: `CodeKeys.binding` or `CodeKeys.verifyBinding`.
  var binding: Data
  /// The issued token, encrypted.
  var sealedToken: SealedToken
  /// The hash of the token's ID, for verification tokens.
  var tokenIDHash: Data?
}

/// An issued token, encrypted, so that a retry after a lost response gets the same token.
///
/// AES-256-GCM under a key derived from the server's secret and the code, with the code's hash as
/// associated data. Decrypting it takes the database, the secret and the code:
/// Documentation/Decisions/0005-token-kept-sealed.md.
struct SealedToken: Hashable, Sendable, Redacted {
  /// Nonce, ciphertext and tag.
  let bytes: Data

  /// An encrypted token from the database.
  init(bytes: Data) {
    self.bytes = bytes
  }

  /// Encrypts `token` with `nonce`, twelve fresh random bytes.
  init(_ token: String, for code: some EnteredCode, keys: CodeKeys, nonce: [UInt8]) throws {
    let box = try AES.GCM.seal(
      Data(token.utf8), using: keys.tokenKey(for: code), nonce: AES.GCM.Nonce(data: nonce),
      authenticating: keys.hash(of: code).bytes)
    bytes = Data(box.nonce) + box.ciphertext + box.tag
  }

  /// Decrypts the token.
  ///
  /// - Throws: If the bytes were changed or belong to another code.
  func text(for code: some EnteredCode, keys: CodeKeys) throws -> String {
    let box = try AES.GCM.SealedBox(combined: bytes)
    let text = try AES.GCM.open(
      box, using: keys.tokenKey(for: code), authenticating: keys.hash(of: code).bytes)
    return String(decoding: text, as: UTF8.self)
  }

  /// The size of a nonce, in bytes.
  static let nonceBytes = 12
}

/// The numbers of codes that were issued and used on one day in UTC.
struct CodeCounts: Codable, Hashable, Sendable {
  /// The day, counted from 1970.
  let day: Int64
  private(set) var issued = 0
  /// The codes that were exchanged for a token.
  private(set) var claimed = 0
  /// The verification tokens that were exchanged for a certificate.
  private(set) var tokensClaimed = 0
  /// Used codes by the time since they were issued: one bucket for each of `ages`, and one for longer times.
  private(set) var claimAges: [Int]
  /// The sum of these times, in seconds.
  private(set) var claimSeconds: Int64 = 0

  /// The upper bounds of the buckets of `claimAges`, in seconds.
  static let ages: [Int64] = [
    60, 300, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
  ]

  private static let daySeconds: Int64 = 86_400

  /// No codes on `day`.
  init(day: Int64) {
    self.day = day
    claimAges = Array(repeating: 0, count: Self.ages.count + 1)
  }

  /// The number of the day of a Unix second.
  static func day(of unixSecond: Int64) -> Int64 { unixSecond / daySeconds }

  mutating func countIssued(_ count: Int) { issued = max(0, issued + count) }

  mutating func countClaimed(after seconds: Int64) {
    claimed += 1
    let age = max(0, seconds)
    claimSeconds += age
    claimAges[Self.ages.firstIndex { age <= $0 } ?? Self.ages.count] += 1
  }

  mutating func countTokenClaimed() { tokensClaimed += 1 }

  /// The counts in the form of the contract.
  ///
  /// - Parameters:
  ///   - attempts: The attempts of the day, which are shown rounded; nil before it is over.
  ///   - reports: The events of user reports, rounded as well; nil as above.
  func statistics(
    _ attempts: AttemptCount?, reports: [UserReportEvent: Int]?
  ) -> CodeStatisticsResponse.Day {
    func shown(_ event: UserReportEvent) -> Int? { reports.map { $0[event] ?? 0 } }
    return CodeStatisticsResponse.Day(
      date: CalendarDay(number: Int(day)).midnightText,
      data: CodeStatisticsResponse.Counts(
        codesIssued: issued, codesClaimed: claimed, codesInvalid: attempts?.shown.codesInvalid,
        codesInvalidBySystem: attempts?.shownBySystem, tokensClaimed: tokensClaimed,
        tokensInvalid: attempts?.shown.tokensInvalid,
        claimAges: claimAges, claimMeanSeconds: claimed == 0 ? 0 : claimSeconds / Int64(claimed),
        userReportsIssued: shown(.issued), userReportsClaimed: shown(.claimed),
        userReportsInvalidNonce: shown(.invalidNonce),
        userReportTokensClaimed: shown(.tokenClaimed)))
  }
}
