import Foundation
import KeyServerAPI

/// Requires an attestation of a genuine device for exactly these keys from uploads of some platforms.
///
/// Without a DeviceCheck client only the time and the keys are checked; the device itself is not.
struct DeviceVerification: Sendable {
  let client: DeviceCheckClient?
  /// The apps that DeviceCheck attests for the team; empty for all.
  let bundleIDs: Set<String>
  let requiredPlatforms: Set<String>

  /// True if uploads of this platform need an attestation.
  func isRequired(for payload: UploadPayload) -> Bool {
    requiredPlatforms.contains(payload.platform)
  }

  /// True if the check of this upload sends a request to DeviceCheck.
  func asksAnotherServer(about payload: UploadPayload) -> Bool {
    client != nil && isRequired(for: payload)
  }

  /// Throws if an attestation is required and is not valid.
  func verify(_ payload: UploadPayload, at now: Date) async throws(DeviceVerificationError) {
    guard isRequired(for: payload) else { return }
    guard let text = payload.deviceVerificationPayload else { throw .notGenuine }
    guard let attestation = DeviceVerificationPayload(base64: text) else { throw .unreadable }
    guard attestation.transactionID == Self.transactionID(of: payload),
      Self.isFresh(attestation, at: now)
    else { throw .notGenuine }
    guard let client else { return }
    guard bundleIDs.isEmpty || bundleIDs.contains(payload.appPackageName) else {
      throw .notGenuine
    }
    switch await client.verdict(on: attestation, at: now) {
    case .genuine: return
    case .notGenuine: throw .notGenuine
    case .unknown: throw .unavailable
    }
  }

  private static func transactionID(of payload: UploadPayload) -> String {
    DeviceVerificationPayload.transactionID(
      appPackageName: payload.appPackageName, keys: payload.temporaryExposureKeys,
      regions: payload.regions)
  }

  private static func isFresh(_ attestation: DeviceVerificationPayload, at now: Date) -> Bool {
    let made = Double(attestation.timestampMilliseconds) / 1_000
    return abs(now.timeIntervalSince1970 - made) <= UploadLimit.deviceVerificationAgeSecondsMax
  }
}

/// The reason why an attestation does not pass.
enum DeviceVerificationError: Error {
  /// The attestation is not in the documented form.
  case unreadable
  /// It is missing, expired, made for other keys or by another app, or DeviceCheck rejects it.
  case notGenuine
  /// DeviceCheck does not respond, or reports an error that is not about the device.
  case unavailable
}
