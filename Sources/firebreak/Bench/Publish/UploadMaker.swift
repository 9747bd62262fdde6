import ExposureKeys
import Foundation
import KeyServerAPI
import UploadToken
import World

/// Makes uploads that a server has never seen: new keys, a certificate bound to them, all serialised.
struct UploadMaker {
  /// How long a certificate is good, in seconds: as long as Google's verification server has it.
  static let certificateSeconds: TimeInterval = 15 * 60
  /// Random bytes of an upload's padding, before base64.
  static let paddingByteCount = 768
  /// Days back on which keys began; further ones share a day.
  static let days = 14

  let target: PublishTarget
  let keysPerUpload: Int
  let clock: any WallClock
  let randomness: any Randomness
  private let issuer: UploadTokenIssuer

  /// Throws where the target's signing key is none.
  init(
    _ target: PublishTarget, keysPerUpload: Int, clock: any WallClock, randomness: any Randomness
  ) throws {
    self.target = target
    self.keysPerUpload = keysPerUpload
    self.clock = clock
    self.randomness = randomness
    do {
      issuer = try UploadTokenIssuer(
        keyID: target.keyID, privateKeyPEM: target.signingKeyPEM, issuer: target.issuer,
        audience: target.audience)
    } catch {
      throw CommandFailure.badInput(
        "--signing-key is no P-256 private key in PEM: give another file.")
    }
  }

  /// One upload, in bytes.
  func upload() async throws -> [UInt8] {
    let now = clock.now
    guard let today = IntervalNumber(now)?.startOfDay.rawValue else {
      throw CommandFailure.badInput("The clock of this machine cannot be: set it.")
    }
    let keys = (0..<keysPerUpload).map { key($0, today: today) }
    let secret = Data(randomness.bytes(KeyHMAC.secretByteCount))
    let onset = today - 5 * IntervalNumber.perDay
    let grant = UploadGrant(
      tokenID: randomness.bytes(16).lowerCaseHex, issuedAt: now,
      expiresAt: now.addingTimeInterval(Self.certificateSeconds), symptomOnsetInterval: onset,
      keyHMAC: KeyHMAC.authenticationCode(over: keys, secret: secret))
    let body = PublishBody(
      temporaryExposureKeys: keys, healthAuthorityID: target.application,
      verificationPayload: try await issuer.token(for: grant),
      hmacKey: secret.base64EncodedString(), symptomOnsetInterval: onset,
      padding: Data(randomness.bytes(Self.paddingByteCount)).base64EncodedString())
    return Array(try JSONEncoder().encode(body))
  }

  /// A key of a whole day that is over.
  private func key(_ number: Int, today: UInt32) -> UploadKey {
    let daysAgo = UInt32(1 + number % Self.days)
    return UploadKey(
      key: Data(randomness.bytes(TemporaryExposureKey.byteCount)).base64EncodedString(),
      rollingStartNumber: today - daysAgo * IntervalNumber.perDay,
      transmissionRisk: 1 + number % Int(DiagnosisKey.transmissionRiskLevels.upperBound))
  }
}
