import Foundation
import Secrets
import VerificationAPI
import World

/// A PIN that the user has typed: digits and upper-case letters.
struct PIN: Sendable, Equatable {
  /// The characters.
  let bytes: ZeroingBytes

  /// Parses typed text; `nil` if it is not a PIN.
  init?(_ typed: ZeroingBytes) {
    // Bound directly: a copy of the optional array would share its memory, which then is not overwritten.
    guard var characters = typed.withUnsafeBytes({ VerificationCode.characters(typed: $0) }) else {
      return nil
    }
    bytes = ZeroingBytes(moving: &characters)
  }

  /// A PIN that was stored.
  init?(stored bytes: ZeroingBytes) {
    guard VerificationCode.characterCounts.contains(bytes.count) else { return nil }
    self.bytes = bytes
  }
}

extension PIN: Redacted {}

/// A completed upload. It recognizes its PIN without containing it, so that an app that was killed before it
/// could report the success does so when the user enters the PIN again.
struct CompletedUpload: Sendable, Equatable {
  /// The length of the salt, in bytes.
  static let saltByteCount = 32

  /// The end of the upload.
  let date: Date
  let salt: ZeroingBytes
  /// The HMAC of the PIN under the salt.
  let code: ZeroingBytes

  /// Records that the upload with `pin` is complete.
  init(of pin: PIN, at date: Date, randomness: any Randomness) {
    self.date = date
    salt = ZeroingBytes(copying: randomness.bytes(Self.saltByteCount))
    code = Self.code(of: pin, salt: salt)
  }

  /// A record that was stored.
  init(stored date: Date, salt: ZeroingBytes, code: ZeroingBytes) {
    self.date = date
    self.salt = salt
    self.code = code
  }

  /// Returns `true` if `pin` is the one of the upload and the record has not expired.
  func matches(_ pin: PIN, at now: Date) -> Bool {
    Self.code(of: pin, salt: salt) == code && !isExpired(at: now)
  }

  func isExpired(at now: Date) -> Bool {
    abs(now.timeIntervalSince(date)) >= RemovalRule.completedUploadSeconds
  }

  private static func code(of pin: PIN, salt: ZeroingBytes) -> ZeroingBytes {
    pin.bytes.authenticationCode(using: salt)
  }
}

extension CompletedUpload: Redacted {}
