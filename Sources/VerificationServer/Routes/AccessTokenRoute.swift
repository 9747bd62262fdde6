import CallableEnvelope
import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI
import World

/// POST /getAccessToken: a code for a token.
///
/// Documentation/SeedContract.md 3.4 to 3.6 and 3.8. A missing, unknown, used and expired code get one and the
/// same answer, so that nobody learns from it which codes there are.
struct AccessTokenRoute: Sendable {
  typealias Route = CallableRoute<AccessTokenRequest>

  let redemption: CodeRedemption
  let netmasks: Netmasks
  let attempts: Attempts

  func add(to router: Router<QuietContext>) {
    Route(randomness: redemption.randomness, gate: gate)
      .add(VerificationRoute.accessToken, to: router, decoy: decoy, answer: answer)
  }

  /// Looks at the address before the body is read, of decoys as well.
  private func gate(headers: HTTPFields, context: QuietContext) throws -> QuietAnswer? {
    guard !netmasks.contain(context) else { return nil }
    return try QuietAnswer(
      CallableFailure(.permissionDenied, message: "Ask from where apps may ask this server."))
  }

  private func answer(_ request: Route.Question) async throws -> QuietAnswer {
    try await attempts.count(from: request.context)
    let keyHMAC = try KeyHMACField(request.body.data?.ekeyhmac)
    guard let code = request.body.data?.code.flatMap({ VerificationCode($0) }) else {
      return try invalidCode()
    }
    let token = try await attempts.fairly(
      with: redemption.keys.hash(of: code), from: request.context
    ) { try await redemption.token(for: code, keyHMAC: keyHMAC.bytes) }
    guard let token else { return try invalidCode() }
    await attempts.forgive(request.context)
    return try QuietAnswer(CallableAnswer(result: AccessTokenAnswer(accessToken: token)))
  }

  /// Looks a code up as a real request does, and answers with what no verifier would take.
  private func decoy(_ request: Route.DecoyQuestion) async throws -> QuietAnswer {
    let typed = request.body?.data?.code.flatMap { VerificationCode($0) }
    let code = typed ?? VerificationCode.drawn(from: redemption.randomness)
    _ = try? await redemption.storage.code(redemption.keys.hash(of: code))
    let noToken = Data(redemption.randomness.bytes(Self.decoyBytes)).base64EncodedString()
    return try QuietAnswer(CallableAnswer(result: AccessTokenAnswer(accessToken: noToken)))
  }

  private func invalidCode() throws -> QuietAnswer {
    try QuietAnswer(CallableFailure(.notFound, message: VerificationRoute.invalidCode))
  }

  /// About the size of a token, in bytes.
  private static let decoyBytes = 330
}
