import Foundation
import KeyServerAPI

/// Demands a proof of a genuine device, made for exactly these keys, just now.
///
/// Documentation/SeedContract.md 4.4. Without an authority to ask, only that it was made for these keys just now
/// is checked: of the device nothing is known then.
struct DeviceVerification: Sendable {
  let authority: DeviceCheckAuthority?
  /// The apps that the authority vouches for; empty for all.
  let bundleIDs: Set<String>
  let requiredPlatforms: Set<String>

  /// Whether the upload's platform needs a proof.
  func isRequired(of payload: UploadPayload) -> Bool {
    requiredPlatforms.contains(payload.platform)
  }

  /// Returns where the upload's platform needs no proof or the proof holds.
  func verify(_ payload: UploadPayload, at now: Date) async throws(UploadRefusal) {
    guard isRequired(of: payload) else { return }
    guard let text = payload.deviceVerificationPayload else { throw .deviceNotGenuine }
    guard let proof = DeviceVerificationPayload(base64: text) else {
      throw .broken("The deviceVerificationPayload cannot be read.")
    }
    guard proof.transactionID == Self.transactionID(of: payload), Self.isFresh(proof, at: now)
    else { throw .deviceNotGenuine }
    guard let authority else { return }
    guard bundleIDs.isEmpty || bundleIDs.contains(payload.appPackageName) else {
      throw .deviceNotGenuine
    }
    switch await authority.verdict(on: proof, at: now) {
    case .genuine: return
    case .notGenuine: throw .deviceNotGenuine
    case .unknown: throw .unavailable
    }
  }

  private static func transactionID(of payload: UploadPayload) -> String {
    DeviceVerificationPayload.transactionID(
      appPackageName: payload.appPackageName, keys: payload.temporaryExposureKeys,
      regions: payload.regions)
  }

  private static func isFresh(_ proof: DeviceVerificationPayload, at now: Date) -> Bool {
    let made = Double(proof.timestampMilliseconds) / 1_000
    return abs(now.timeIntervalSince1970 - made) <= UploadLimit.deviceVerificationAgeSecondsMax
  }
}
