// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import KeyServerAPI
import Terminal
import TextEncodings
import UploadToken
import World

/// Generates uploads with new keys and a certificate for them.
package struct UploadMaker {
  /// The lifetime of a certificate in seconds, as on Google's verification server.
  static let certificateSeconds: TimeInterval = 15 * 60
  /// The number of random padding bytes, before base64.
  static let paddingByteCount = 768
  /// The number of days on which keys start; more keys share days.
  static let days = 14

  let target: PublishTarget
  let keysPerUpload: Int
  let clock: any WallClock
  let randomness: any Randomness
  private let issuer: UploadTokenIssuer

  /// - Throws: `CommandFailure` if the signing key of the target is invalid.
  package init(
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
        "--signing-key is not a P-256 private key in PEM: use another file.")
    }
  }

  /// Returns `count` uploads. Those for which `isChaff` returns true are sent as decoys.
  package func uploads(
    _ count: Int, _ bar: ProgressLine, isChaff: (_ number: Int) -> Bool = { _ in false }
  ) async throws -> [PreparedUpload] {
    var uploads: [PreparedUpload] = []
    for number in 0..<count {
      uploads.append(PreparedUpload(body: try await upload(), isChaff: isChaff(number)))
      if number.isMultiple(of: 200) { bar.show(number, of: count) }
    }
    return uploads
  }

  /// Returns the body of one upload.
  func upload() async throws -> [UInt8] {
    let now = clock.now
    guard let today = IntervalNumber(now)?.startOfDay.rawValue else {
      throw CommandFailure.badInput("The clock of this machine is out of range: set it.")
    }
    let keys = (0..<keysPerUpload).map { key($0, today: today) }
    let secret = Data(randomness.bytes(KeyHMAC.secretByteCount))
    let onset = today - 5 * IntervalNumber.perDay
    let grant = UploadGrant(
      tokenID: randomness.bytes(16).hexadecimal, issuedAt: now,
      expiresAt: now.addingTimeInterval(Self.certificateSeconds), symptomOnsetInterval: onset,
      keyHMAC: KeyHMAC.authenticationCode(over: keys, secret: secret))
    let body = PublishBody(
      temporaryExposureKeys: keys, healthAuthorityID: target.application,
      verificationPayload: try await issuer.token(for: grant),
      hmacKey: secret.base64EncodedString(), symptomOnsetInterval: onset,
      padding: Data(randomness.bytes(Self.paddingByteCount)).base64EncodedString())
    return Array(try JSONEncoder().encode(body))
  }

  /// A key of a past day.
  private func key(_ number: Int, today: UInt32) -> UploadKey {
    let daysAgo = UInt32(1 + number % Self.days)
    return UploadKey(
      key: Data(randomness.bytes(TemporaryExposureKey.byteCount)).base64EncodedString(),
      rollingStartNumber: today - daysAgo * IntervalNumber.perDay,
      transmissionRisk: 1 + number % Int(DiagnosisKey.transmissionRiskLevels.upperBound))
  }
}

/// The body of `POST /v1/publish`. The bench has its own wire type so that it does not change with the server.
struct PublishBody: Encodable {
  let temporaryExposureKeys: [UploadKey]
  let healthAuthorityID: String
  /// The certificate, a JWT.
  let verificationPayload: String
  /// The HMAC key in base64.
  let hmacKey: String
  let symptomOnsetInterval: UInt32
  let traveler = false
  let revisionToken = ""
  let padding: String
}
