import Foundation
import KeyServerAPI
import Secrets

/// An upload that the user has agreed to. Its keys and PIN do not change, so that a request can be
/// repeated after a lost response.
struct PendingUpload: Sendable, Equatable {
  /// The PIN, for repeating a token request.
  let pin: PIN
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
    pin: PIN, keys: [ReleasedKey], hmacSecret: ZeroingBytes, isInteroperabilityEnabled: Bool,
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
    return text.bytes().digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
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

/// Selects the keys of an upload.
enum KeySelection {
  /// The keys to share, with their transmission risks.
  static func keys(
    of all: [ReleasedKey], _ risks: TransmissionRisks = .constant, at now: Date
  ) throws(UploadFailure) -> [ReleasedKey] {
    let keys = shared(all, risks, at: now)
    guard !keys.isEmpty else { throw .nothingToShare }
    switch UploadLimit.violation(of: standIns(for: keys), at: now) {
    case nil: return keys
    case .keyCount: throw .tooManyKeys
    case .keysWithOneStart: throw .tooManyKeysOfOneDay
    default: throw .keysOutOfOrder
    }
  }

  /// The keys of the last fourteen days that are shared, with their transmission risks.
  static func shared(
    _ all: [ReleasedKey], _ risks: TransmissionRisks, at now: Date
  ) -> [ReleasedKey] {
    let tooOld = Diagnosis.number(of: now) - RemovalRule.exposureDays
    return all.compactMap { key in
      let limit = Double(tooOld) * RemovalRule.daySeconds
      guard key.start.timeIntervalSince1970 > limit, let risk = risks.risk(ofKeyFrom: key.start)
      else { return nil }
      var key = key
      key.transmissionRisk = risk
      return key
    }
  }

  /// Keys with the same times and other bytes. The limits depend on the bytes only if a key is repeated.
  private static func standIns(for keys: [ReleasedKey]) -> [UploadKey] {
    keys.map { key in
      let number = keys.firstIndex { $0.bytes == key.bytes } ?? 0
      let bytes = Data(repeating: UInt8(truncatingIfNeeded: number), count: key.bytes.count)
      return UploadKey(
        key: bytes.base64EncodedString(), rollingPeriod: key.rollingPeriod,
        rollingStartNumber: key.rollingStartNumber, transmissionRisk: key.transmissionRisk)
    }
  }
}
