import Foundation
import KeyServerAPI
import VerificationAPI

/// An upload that has been agreed to and checked: from here on nothing about it changes, so that it
/// can be sent again after a lost answer (Documentation/App.md 5.4). It is stored sealed.
struct PendingUpload: Codable, Sendable, Equatable {
  /// One key, as it is stored.
  struct Key: Codable, Sendable, Equatable {
    let data: Data
    let rollingPeriod: UInt32
    let rollingStartNumber: UInt32
    let transmissionRisk: Int
  }

  /// The PIN; it is asked about again where the token never came.
  let pin: String
  /// The person's keys.
  let keys: [Key]
  /// The secret of the HMAC that binds the token to the keys.
  let hmacSecret: Data
  /// Whether the person agreed that the keys go to other countries too.
  let isInteroperabilityEnabled: Bool
  /// When the person agreed.
  let begun: Date
  /// The device's word for these keys, once there is one.
  private(set) var deviceVerificationPayload: String?
  /// The token, once there is one, and when it came.
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

  /// The keys in the words of the wire.
  var uploadKeys: [UploadKey] {
    keys.map {
      UploadKey(
        key: $0.data.base64EncodedString(), rollingPeriod: $0.rollingPeriod,
        rollingStartNumber: $0.rollingStartNumber, transmissionRisk: $0.transmissionRisk)
    }
  }

  /// What the token is bound to.
  var keyHMAC: Data { KeyHMAC.authenticationCode(over: uploadKeys, secret: hmacSecret) }

  /// Whether the server has forgotten the PIN or the token by now. An upload from the future, left
  /// behind by a clock that was set back, has expired as well: it must not stay until then.
  func isExpired(at now: Date) -> Bool {
    abs(now.timeIntervalSince(tokenReceived ?? begun)) >= RemovalRule.pendingUploadSeconds
  }

  /// The same with the device's word.
  func attested(by payload: DeviceVerificationPayload) -> PendingUpload {
    var next = self
    next.deviceVerificationPayload = payload.base64
    return next
  }

  /// The same with its token.
  func granted(_ token: String, at now: Date) -> PendingUpload {
    var next = self
    next.token = token
    next.tokenReceived = now
    return next
  }
}

extension PendingUpload: CustomStringConvertible, CustomReflectable {
  /// It holds a PIN, keys and a token.
  var description: String { "PendingUpload(\(keys.count) keys)" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension PendingUpload.Key: CustomStringConvertible, CustomReflectable {
  /// The bytes tell where a person was.
  var description: String { "PendingUpload.Key(from \(rollingStartNumber))" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
