// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets
import VerificationAPI
import World

/// Issues codes: draws codes that differ from every live code, and stores only their hashes.
struct CodeIssuer: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys
  let rules: RulesInForce
  var risk = GuessingRisk(AttemptLimits())
  /// The used share of the guesses in a window. While codes are being guessed, new ones are longer.
  var pressure: @Sendable () async -> Double = { 0 }
  let clock: any WallClock
  let randomness: any Randomness

  var policy: CodePolicy { rules.policy }

  /// Returns a new PIN for `testResult`.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable` if it could not be stored.
  func code(for testResult: TestResult) async throws -> VerificationCode {
    let codes = try await codes(1, for: testResult, lifetime: rules.pinLifetime)
    guard let code = codes.first else { throw VerificationServerError.storageUnavailable }
    return code
  }

  /// Returns `count` new PINs that expire after `lifetime` seconds and are all different.
  ///
  /// Each draw is stored in one transaction; PINs that equal a live code are drawn again.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable` if not all could be stored, `.tooManyLiveCodes` if
  ///   they could be guessed.
  func codes(
    _ count: Int, for testResult: TestResult, lifetime: TimeInterval
  ) async throws -> [VerificationCode] {
    let now = clock.now
    let form = try await form(
      .pin, VerificationCode.characterCounts, count: count, lifetime: lifetime, at: now)
    var stored: [VerificationCode] = []
    for _ in 0..<VerificationLimit.drawsMax {
      let drawn = (stored.count..<count).map { _ in
        VerificationCode.drawn(count: form.characterCount, from: randomness)
      }
      let outcomes = try await storage.issue(
        drawn.map {
          HashedCode(
            hash: keys.hash(of: $0), form: form, testResult: testResult,
            expiresAt: now.addingTimeInterval(lifetime))
        }, at: now)
      stored += zip(drawn, outcomes).filter { $0.1 == .stored }.map(\.0)
      if stored.count == count { return stored }
    }
    throw VerificationServerError.storageUnavailable
  }

  /// Issues a short code or a PIN, and a long code if a link is needed.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable` if it could not be stored, `.tooManyLiveCodes` if
  ///   it could be guessed.
  func issue(_ properties: CodeProperties) async throws -> CodeRequestOutcome {
    let (now, policy) = (clock.now, policy)
    let handle = properties.handle ?? UUID(from: randomness)
    let isPIN = properties.form == .pin
    let lengths =
      isPIN
      ? VerificationCode.characterCounts
      : policy.shortCodeDigits...ShortCode.digitCounts.upperBound
    // Read once: the rules may change meanwhile.
    let lifetime = isPIN ? rules.pinLifetime : policy.shortCodeLifetime
    let form = try await form(properties.form, lengths, count: 1, lifetime: lifetime, at: now)
    for _ in 0..<VerificationLimit.drawsMax {
      guard let typed = drawn(form) else { break }
      let long =
        properties.wantsLink
        ? LongCode.drawn(count: policy.longCodeCharacters, from: randomness) : nil
      var code = HashedCode(
        hash: keys.hash(of: typed), form: form, testResult: properties.testResult,
        expiresAt: now.addingTimeInterval(lifetime))
      if let long {
        code.longHash = keys.hash(of: long)
        code.longExpiresAt = now.addingTimeInterval(policy.longCodeLifetime)
      }
      complete(&code, properties, handle: handle)
      switch try await storage.issue([code], at: now).first {
      case .stored:
        return .issued(NewCode(handle: handle, typed: typed, long: long, issued: code))
      case .handleTaken: return .handleTaken
      case .phoneBusy: return .phoneBusy(expiresAt: code.expiresAt)
      case .codeTaken, nil: continue
      }
    }
    throw VerificationServerError.storageUnavailable
  }

  private func drawn(_ form: CodeForm) -> (any EnteredCode)? {
    switch form.kind {
    case .pin: VerificationCode.drawn(count: form.characterCount, from: randomness)
    case .short: ShortCode.drawn(digits: form.characterCount, from: randomness)
    }
  }

  private func complete(_ code: inout HashedCode, _ properties: CodeProperties, handle: UUID) {
    code.handle = handle
    code.issuer = properties.issuer
    code.externalIssuer = properties.externalIssuer
    code.nonceHash = properties.nonce.map { keys.hash(of: $0, for: .nonce) }
    code.phoneHash = properties.reportingPhone.map { keys.hash(of: Data($0.utf8), for: .phone) }
  }

  /// The shortest form of `lengths` of which `count` more codes may be live; while codes are being guessed, a longer
  /// one if there is one.
  ///
  /// - Throws: `.tooManyLiveCodes` if there is none.
  private func form(
    _ kind: CodeForm.Kind, _ lengths: ClosedRange<Int>, count: Int, lifetime: TimeInterval,
    at now: Date
  ) async throws -> CodeForm {
    let caution = GuessingRisk.caution(under: await pressure())
    for caution in Set([caution, 1]).sorted(by: >) {
      for length in lengths {
        let form = CodeForm(kind, length)
        let room = risk.liveCodesMax(of: form, lifetime: lifetime, caution: caution) - count
        guard room >= 0 else { continue }
        if try await storage.liveCount(of: form, at: now, atMost: room + 1) <= room { return form }
      }
    }
    throw VerificationServerError.tooManyLiveCodes
  }
}

/// The properties of a code of Google's contract that is to be issued.
struct CodeProperties: Sendable, Redacted {
  var testResult: TestResult
  /// The form of the code that the user types.
  var form = CodeForm.Kind.short
  /// The UUID that the client chose.
  var handle: UUID?
  /// The API key of the request.
  var issuer: APIKeyID?
  /// The client's name for the issuer.
  var externalIssuer: String?
  /// True if a long code is needed for the link of an SMS.
  var wantsLink = false
  /// The nonce of a user report, without which the code cannot be used.
  var nonce: Data?
  /// The phone number of a user report.
  var reportingPhone: String?

  /// A copy with the API key of the request.
  func issued(under key: APIKeyID?) -> CodeProperties {
    var properties = self
    properties.issuer = key
    return properties
  }
}

/// The outcome of a request for a code.
enum CodeRequestOutcome: Sendable {
  case issued(NewCode)
  case handleTaken
  /// The phone reported recently; a new code would have expired at this date.
  case phoneBusy(expiresAt: Date)
}

/// A code while its characters are known.
struct NewCode: Sendable {
  let handle: UUID
  /// The code that the user types.
  let typed: any EnteredCode
  let long: LongCode?
  let issued: HashedCode
}

extension VerificationCode {
  /// Draws a PIN of `count` characters; all PINs of this length are equally likely.
  ///
  /// 86 % of all draws of six characters are PINs. The rest lack a digit or a letter and are drawn again.
  static func drawn(
    count: Int = characterCounts.lowerBound, from randomness: any Randomness
  ) -> VerificationCode {
    let allowed = min(max(count, characterCounts.lowerBound), characterCounts.upperBound)
    while true {
      let text = randomness.text(of: alphabet, allowed)
      if let code = VerificationCode(text) { return code }
    }
  }
}

extension ShortCode {
  /// Draws a code of `digits` digits, all equally likely; nil if the number of digits is not allowed.
  static func drawn(digits: Int, from randomness: any Randomness) -> ShortCode? {
    ShortCode(randomness.text(of: Array("0123456789"), digits))
  }
}

extension LongCode {
  /// Draws a code of `count` characters, all equally likely; nil if the length is not allowed.
  static func drawn(count: Int, from randomness: any Randomness) -> LongCode? {
    LongCode(randomness.text(of: alphabet, count))
  }
}

extension Randomness {
  fileprivate func text(of alphabet: [Character], _ count: Int) -> String {
    String((0..<count).map { _ in alphabet[number(in: 0...alphabet.count - 1)] })
  }
}

extension UUID {
  /// A random UUID (RFC 9562, version 4).
  init(from randomness: any Randomness) {
    self.init(bytes: randomness.bytes(16), version: 0x40)
  }

  /// A UUID from the first sixteen bytes of a keyed hash (RFC 9562, version 8).
  init(hash: Data) {
    self.init(bytes: Array(hash.prefix(16)), version: 0x80)
  }

  private init(bytes: [UInt8], version: UInt8) {
    var bytes = bytes + [UInt8](repeating: 0, count: max(0, 16 - bytes.count))
    bytes[6] = bytes[6] & 0x0F | version
    bytes[8] = bytes[8] & 0x3F | 0x80
    self.init(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8],
        bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }

  /// The lower-case form, which both contracts use.
  var text: String { uuidString.lowercased() }
}
