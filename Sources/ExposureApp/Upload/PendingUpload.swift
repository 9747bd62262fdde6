import Foundation
import KeyServerAPI
import Secrets
import VerificationAPI

/// An upload that the user has agreed to. Its keys and PIN do not change, so that a request can be
/// repeated after a lost response. The property names are the JSON keys on disk.
struct PendingUpload: Codable, Sendable, Equatable {
  struct Key: Codable, Sendable, Equatable {
    let data: Data
    let rollingPeriod: UInt32
    let rollingStartNumber: UInt32
    let transmissionRisk: Int
  }

  /// The PIN, for repeating a token request.
  let pin: String
  let keys: [Key]
  /// The secret of the HMAC that binds the token to the keys.
  let hmacSecret: Data
  /// True if the user agreed to share the keys with other countries.
  let isInteroperabilityEnabled: Bool
  /// The time of the user's consent.
  let begun: Date
  /// The device attestation for these keys.
  private(set) var deviceVerificationPayload: String?
  /// The token and the time of its arrival.
  private(set) var token: String?
  private(set) var tokenReceived: Date?

  init(
    code: VerificationCode, keys: [Key], hmacSecret: Data, isInteroperabilityEnabled: Bool,
    at now: Date
  ) {
    pin = code.characters
    self.keys = keys
    self.hmacSecret = hmacSecret
    self.isInteroperabilityEnabled = isInteroperabilityEnabled
    begun = now
  }

  /// The keys in the format of the upload request.
  var uploadKeys: [UploadKey] {
    keys.map {
      UploadKey(
        key: $0.data.base64EncodedString(), rollingPeriod: $0.rollingPeriod,
        rollingStartNumber: $0.rollingStartNumber, transmissionRisk: $0.transmissionRisk)
    }
  }

  /// The HMAC that the token is bound to.
  var keyHMAC: Data { KeyHMAC.authenticationCode(over: uploadKeys, secret: hmacSecret) }

  /// Returns `true` if the PIN or the token has expired on the server. An upload from the future, from
  /// before the clock was set back, has expired too.
  func isExpired(at now: Date) -> Bool {
    abs(now.timeIntervalSince(tokenReceived ?? begun)) >= RemovalRule.pendingUploadSeconds
  }

  func attested(by payload: DeviceVerificationPayload) -> PendingUpload {
    var next = self
    next.deviceVerificationPayload = payload.base64
    return next
  }

  func granted(_ token: String, at now: Date) -> PendingUpload {
    var next = self
    next.token = token
    next.tokenReceived = now
    return next
  }
}

extension PendingUpload: Redacted {
  /// The number of keys; the PIN, the keys and the token are secret.
  var description: String { "PendingUpload(\(keys.count) keys)" }
}

extension PendingUpload.Key: Redacted {
  /// The start of the key; its bytes identify a user's beacons.
  var description: String { "PendingUpload.Key(from \(rollingStartNumber))" }
}

/// Selects the keys of an upload.
enum KeySelection {
  /// The transmission risk of all keys in the ProteGO Safe contract.
  static let transmissionRisk = 8

  /// The keys to share.
  static func keys(
    of all: [PendingUpload.Key], at now: Date
  ) throws(UploadFailure) -> [PendingUpload.Key] {
    let today = (now.timeIntervalSince1970 / RemovalRule.daySeconds).rounded(.down)
    let tooOld = (today - Double(RemovalRule.exposureDays)) * RemovalRule.daySeconds
    let keys = all.filter { Double($0.rollingStartNumber) * intervalSeconds > tooOld }
    guard !keys.isEmpty else { throw .nothingToShare }
    switch UploadLimit.breach(of: keys.map(uploadKey), at: now) {
    case nil: return keys
    case .keyCount: throw .tooManyKeys
    case .keysWithOneStart: throw .tooManyKeysOfOneDay
    default: throw .keysOutOfOrder
    }
  }

  private static let intervalSeconds = 600.0

  private static func uploadKey(_ key: PendingUpload.Key) -> UploadKey {
    UploadKey(
      key: key.data.base64EncodedString(), rollingPeriod: key.rollingPeriod,
      rollingStartNumber: key.rollingStartNumber, transmissionRisk: key.transmissionRisk)
  }
}
