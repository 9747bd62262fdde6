// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Secrets
import TextEncodings
import World

/// An upload that the user has agreed to. Its keys and PIN do not change, so that a request can be
/// repeated after a lost response: the verification server gives a token again only for the same keys. A key whose time
/// turns out to be wrong stays among them; it matches the beacons of no other phone.
struct PendingUpload: Sendable, Equatable {
  /// The PIN, for repeating a token request; `nil` for the keys of the following days, which a permit authorizes.
  let pin: PIN?
  let keys: [ReleasedKey]
  /// The secret of the HMAC that binds the token to the keys.
  let hmacSecret: ZeroingBytes
  /// True if the user agreed to share the keys with other countries.
  let isInteroperabilityEnabled: Bool
  /// The time at which the PIN was entered.
  private(set) var begun: Date
  /// The token and the time of its arrival.
  private(set) var token: ZeroingBytes?
  private(set) var tokenReceived: Date?
  /// The device attestation for these keys; it is not stored, because every attempt needs a new one.
  private(set) var deviceVerificationPayload: String?

  init(
    pin: PIN?, keys: [ReleasedKey], hmacSecret: ZeroingBytes, isInteroperabilityEnabled: Bool,
    at now: Date
  ) {
    self.pin = pin
    self.keys = keys
    self.hmacSecret = hmacSecret
    self.isInteroperabilityEnabled = isInteroperabilityEnabled
    begun = now
  }

  /// Returns `true` if the token has expired on the server. An upload from the future, from before the clock
  /// was set back, has expired too.
  func isExpired(at now: Date) -> Bool {
    abs(now.timeIntervalSince(tokenReceived ?? begun)) >= RemovalRule.pendingUploadSeconds
  }

  /// Returns `true` if the same PIN may still give the same token again.
  func isRepeatable(at now: Date) -> Bool {
    abs(now.timeIntervalSince(begun)) < RemovalRule.daySeconds
  }

  /// Returns `true` if the upload is given up even if no server has answered.
  func isTooOld(at now: Date) -> Bool {
    abs(now.timeIntervalSince(begun)) >= RemovalRule.unfinishedUploadSeconds
  }

  /// Returns `true` if the token is valid, with which any PIN continues the upload.
  func isReady(at now: Date) -> Bool { token != nil && !isExpired(at: now) }

  /// Returns `true` if `pin` continues the upload, and does not begin a new one.
  func isContinued(by pin: PIN, at now: Date) -> Bool {
    isReady(at: now) || self.pin == pin && isRepeatable(at: now)
  }

  func attested(by payload: DeviceVerificationPayload) -> PendingUpload {
    var next = self
    next.deviceVerificationPayload = payload.base64
    return next
  }

  func granted(_ token: ZeroingBytes, at now: Date) -> PendingUpload {
    var next = self
    next.token = token
    next.tokenReceived = now
    return next
  }

  /// The same upload, whose token must be requested again.
  func withoutToken() -> PendingUpload {
    var next = self
    next.token = nil
    next.tokenReceived = nil
    return next
  }
}

extension PendingUpload: Redacted {
  /// The number of keys; the PIN, the keys and the token are secret.
  var description: String { "PendingUpload(\(keys.count) keys)" }
}

extension PendingUpload {
  /// The HMAC that the token is bound to, as `KeyHMAC` computes it.
  var keyHMAC: ZeroingBytes {
    var text = SecretText()
    for (index, key) in sortedByBase64.enumerated() {
      if index > 0 { text.append(",") }
      text.append(key.base64)
      text.append(
        ".\(key.rollingStartNumber).\(key.rollingPeriod).\(key.transmissionRisk)")
    }
    return text.bytes().authenticationCode(using: hmacSecret)
  }

  /// The text that binds an attestation to the keys, as `DeviceVerificationPayload` computes it.
  func transactionID(appPackageName: String, regions: [String]) -> String {
    var text = SecretText()
    text.append(appPackageName)
    for key in sortedByBase64 { text.append(key.base64) }
    for region in regions.map({ $0.uppercased() }).sorted() { text.append(region) }
    return text.bytes().digest.hexadecimal
  }

  private var sortedByBase64: [ReleasedKey] {
    keys.map { (key: $0, text: $0.base64) }.sorted { left, right in
      left.text.withUnsafeBytes { left in
        right.text.withUnsafeBytes { left.lexicographicallyPrecedes($0) }
      }
    }.map(\.key)
  }
}

extension ReleasedKey {
  /// The base64 of the bytes.
  var base64: ZeroingBytes {
    var text = SecretText()
    text.appendBase64(bytes)
    return text.bytes()
  }
}

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
