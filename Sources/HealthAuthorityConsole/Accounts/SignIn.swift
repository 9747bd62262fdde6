// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import Secrets
import World

/// The sign-in with a password and a one-time code, with a lock after too many failures.
///
/// A name without an account is treated as one with an account, so that neither the response nor its timing reveals
/// which names exist. A locked name can still sign in with a passkey, so that an attacker cannot lock its holder out.
struct SignIn: Sendable {
  let accounts: AccountStore
  let passwords: PasswordChecks

  /// The outcome of an attempt.
  enum Outcome: Sendable {
    case signedIn(Account)
    /// The name, the password or the code is wrong.
    case wrong
    /// Too many attempts with the name have failed.
    case locked(seconds: Int64)
  }

  /// Tries to sign in. Attempts are counted in a transaction before the check, so that concurrent ones cannot exceed
  /// the limit.
  ///
  /// A sign-in whose one-time code is right goes before the others, so that a flood of wrong ones does not keep
  /// officials out.
  ///
  /// - Throws: `PasswordChecks.Busy` if too many sign-ins wait. Such an attempt counts if the account exists.
  func attempt(name: String, password: String, code: String) async throws -> Outcome {
    let now = accounts.clock.now.unixSecond
    let account = try await accounts.account(named: name)
    let credentials =
      if let account, !account.isDisabled { try await accounts.credentials(of: account) } else {
        nil as AccountStore.Credentials?
      }
    let step = credentials?.generator.step(
      of: code, at: now, after: credentials?.lastStep ?? 0, stepsOff: ConsoleLimit.codeStepsOff)
    let nameHash = accounts.keys.code(of: Data(AccountName.key(name).utf8), for: .name)
    do {
      return try await passwords.withPlace(isFirst: step != nil) { place in
        if let seconds = try await countFailure(nameHash, at: now) {
          return .locked(seconds: seconds)
        }
        let isPassword = try await place.matches(password, credentials?.password)
        guard isPassword, let account, let step, try await accounts.useStep(step, of: account)
        else { return .wrong }
        try await forgetFailures(nameHash)
        return .signedIn(account)
      }
    } catch let busy as PasswordChecks.Busy {
      // The refusal shows that the code is wrong: uncounted, it would allow any number of guesses.
      if credentials != nil, let seconds = try await countFailure(nameHash, at: now) {
        return .locked(seconds: seconds)
      }
      throw busy
    }
  }

  /// Counts the attempt as failed until it has succeeded; returns the seconds to wait if the name is locked.
  private func countFailure(_ nameHash: Data, at now: Int64) async throws -> Int64? {
    let window = Int64(ConsoleLimit.signInWindowSeconds)
    return try await accounts.database.write { db in
      // Failures that a process with a later clock has counted stay.
      try db.execute(
        sql: "DELETE FROM sign_in_failure WHERE at <= ? OR at > ?",
        arguments: [now - window, now + window])
      let times = try db.rows(
        sql: "SELECT at FROM sign_in_failure WHERE name_hash = ? ORDER BY at",
        arguments: [nameHash]
      ).map { row -> Int64 in row["at"] }
      if times.count >= ConsoleLimit.signInFailuresMax {
        return max(1, (times.first ?? now) + window - now)
      }
      try db.execute(
        sql: "INSERT INTO sign_in_failure (name_hash, at) VALUES (?, ?)",
        arguments: [nameHash, now])
      return nil
    }
  }

  private func forgetFailures(_ nameHash: Data) async throws {
    try await accounts.database.write {
      try $0.execute(
        sql: "DELETE FROM sign_in_failure WHERE name_hash = ?", arguments: [nameHash])
    }
  }
}

/// A generator of one-time codes on the phone of an official: TOTP (RFC 6238) with SHA-1, six digits and steps of 30
/// seconds, which all authenticator apps support.
struct CodeGenerator: Redacted, Sendable {
  static let stepSeconds: Int64 = 30
  static let digits = 6
  private static let secretBytes = 20
  /// The digits of Base32.
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")

  let secret: Data

  /// A generator with a stored secret.
  init(secret: Data) { self.secret = secret }

  /// A new generator.
  init(randomness: any Randomness) {
    secret = Data(randomness.bytes(Self.secretBytes))
  }

  /// The step that contains `time`, in Unix seconds.
  static func step(at time: Int64) -> Int64 { time / stepSeconds }

  /// The code of a step.
  func code(step: Int64, digits: Int = Self.digits) -> String {
    let counter = withUnsafeBytes(of: step.bigEndian) { Data($0) }
    let hash = Array(
      HMAC<Insecure.SHA1>.authenticationCode(for: counter, using: SymmetricKey(data: secret)))
    let offset = Int(hash[hash.count - 1] & 0x0F)
    let number = hash[offset..<(offset + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let range = (0..<digits).reduce(UInt32(1)) { power, _ in power * 10 }
    let text = String((number & 0x7FFF_FFFF) % range)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  /// The step of a typed code, if it is one of those around `time` and later than `last`.
  ///
  /// - Parameter last: The step of the last code that was accepted: each code works once.
  func step(of typed: String, at time: Int64, after last: Int64, stepsOff: Int) -> Int64? {
    let typed = typed.filter { !$0.isWhitespace }
    let now = Self.step(at: time)
    var found: Int64?
    for step in (now - Int64(stepsOff))...(now + Int64(stepsOff)) where step > last {
      if isEqualInConstantTime(code(step: step).utf8, typed.utf8) { found = step }
    }
    return found
  }

  /// A generator with a secret in Base32, as a person types it; nil if it is not Base32 or has another length.
  init?(typed text: String) {
    let digits = text.uppercased().filter { !$0.isWhitespace }.map {
      Self.alphabet.firstIndex(of: $0) ?? -1
    }
    guard digits.count == Self.secretBytes * 8 / 5, !digits.contains(-1) else { return nil }
    let bits = digits.flatMap { digit in (0..<5).map { digit >> (4 - $0) & 1 } }
    let bytes = stride(from: 0, to: bits.count - 7, by: 8).map { start in
      UInt8(bits[start..<(start + 8)].reduce(0) { $0 << 1 | $1 })
    }
    self.init(secret: Data(bytes))
  }

  /// The secret in Base32 (RFC 4648) without padding, in groups of four as apps show it.
  var typedSecret: String {
    stride(from: 0, to: base32.count, by: 4).map { start in
      String(base32.dropFirst(start).prefix(4))
    }.joined(separator: " ")
  }

  /// The `otpauth` URL that apps read from a QR code.
  func address(account: String, issuer: String) -> String {
    var allowed = CharacterSet.alphanumerics
    allowed.insert(charactersIn: "-._~")
    func encoded(_ text: String) -> String {
      text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }
    return
      "otpauth://totp/\(encoded(issuer)):\(encoded(account))?secret=\(base32)&issuer=\(encoded(issuer))"
  }

  private var base32: String { Self.base32(secret) }

  /// Base32 without padding.
  static func base32(_ bytes: some Sequence<UInt8>) -> String {
    var (text, bits, count) = ("", UInt32(0), 0)
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 5 {
        text.append(alphabet[Int(bits >> UInt32(count - 5)) & 31])
        count -= 5
      }
    }
    if count > 0 { text.append(alphabet[Int(bits << UInt32(5 - count)) & 31]) }
    return text
  }
}
