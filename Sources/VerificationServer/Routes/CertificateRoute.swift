import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI
import World

/// POST /api/certificate: a verification token for a certificate.
///
/// Documentation/VerificationServer.md 2.5 and 2.6.
struct CertificateRoute: Sendable {
  let exchange: CertificateExchange
  let caller: Caller
  let attempts: Attempts
  let randomness: any Randomness

  func add(to router: Router<QuietContext>) {
    GoogleRoute<CertificateRequest>(caller: caller, randomness: randomness)
      .add(VerificationRoute.certificate, to: router, decoy: decoy, answer: answer)
  }

  private func answer(
    _ request: GoogleRoute<CertificateRequest>.Question
  ) async throws -> QuietAnswer {
    let asked = request.body.body
    guard let hmac = Self.keyHMAC(asked.ekeyhmac) else {
      return try QuietAnswer(
        VerificationFailure(.hmacInvalid, "ekeyhmac must be base64 of 32 bytes."))
    }
    try await attempts.count(from: request.context)
    let outcome = try await attempts.fairly(from: request.context) {
      try await exchange.certificate(for: asked.token ?? "", keyHMAC: hmac)
    }
    switch outcome {
    case .certified(let text):
      await attempts.forgive(request.context)
      return try QuietAnswer(CertificateAnswer(certificate: text))
    case .invalid:
      return try QuietAnswer(VerificationFailure(.tokenInvalid, "There is no such token."))
    case .expired:
      return try QuietAnswer(
        VerificationFailure(.tokenExpired, "The token is too old, or has been used for other keys.")
      )
    }
  }

  /// The 32 bytes of `text`, in either alphabet of base64, padded or not.
  private static func keyHMAC(_ text: String?) -> Data? {
    let standard = (text ?? "").replacing("-", with: "+").replacing("_", with: "/")
    let bare = standard.replacing("=", with: "")
    let padding = String(repeating: "=", count: (4 - bare.count % 4) % 4)
    guard let bytes = Data(base64Encoded: bare + padding) else { return nil }
    return bytes.count == VerificationLimit.keyHMACBytes ? bytes : nil
  }

  /// Answers with what no verifier would take.
  private func decoy(
    _ request: GoogleRoute<CertificateRequest>.DecoyQuestion
  ) async throws -> QuietAnswer {
    let noCertificate = Data(randomness.bytes(Self.decoyBytes)).base64EncodedString()
    return try QuietAnswer(CertificateAnswer(certificate: noCertificate))
  }

  /// About the size of a certificate, in bytes.
  private static let decoyBytes = 380
}
