import CallableEnvelope
import Foundation
import Hummingbird
import QuietHTTP
import UploadToken
import VerificationAPI
import World

/// POST /generateCode: a new code for the health authority's own systems.
///
/// Documentation/SeedContract.md 2.2 and 2.3.
struct GenerateCodeRoute: Sendable {
  typealias Body = CallableRequest<GenerateCodeRequest?>

  let issuance: CodeIssuance
  let apiTokens: ApiTokens
  let attempts: Attempts

  func add(to router: Router<QuietContext>) {
    router.post(
      RouterPath(VerificationRoute.generateCode),
      QuietRoute<Body>(
        limit: BodyLimit(bytesMax: VerificationLimit.bodyBytesMax), refusals: .callable,
        randomness: issuance.randomness, decoy: decoy, answer: answer))
  }

  private func answer(_ request: QuietRequest<Body>) async throws -> QuietAnswer {
    try await attempts.count(from: request.context)
    guard apiTokens.contain(request.apiToken) else {
      return try QuietAnswer(CallableFailure(.permissionDenied))
    }
    await attempts.forgive(request.context)
    let now = issuance.clock.now
    let wanted = request.body.data ?? GenerateCodeRequest()
    guard let finding = Finding(wanted, now: now) else {
      return try QuietAnswer(
        CallableFailure(
          .invalidArgument,
          message: "testType must be confirmed, symptomDate a day of the last"
            + " \(VerificationLimit.symptomAgeDaysMax) days as YYYY-MM-DD."))
    }
    let code = try await QuietRefusal.whereStorageFails(request.context.logger) {
      try await issuance.code(for: finding)
    }
    return try QuietAnswer(CallableAnswer(result: code.characters))
  }

  /// Draws a code and keeps none.
  private func decoy(_ request: QuietRequest<Body?>) async throws -> QuietAnswer {
    _ = apiTokens.contain(request.apiToken)
    let code = VerificationCode.drawn(from: issuance.randomness)
    return try QuietAnswer(CallableAnswer(result: code.characters))
  }
}

extension QuietRequest {
  fileprivate var apiToken: String? {
    HTTPFields.Element.Name(VerificationRoute.apiTokenHeader).flatMap { headers[$0] }
  }
}

extension Finding {
  /// The finding that is asked for; nil where the request makes no sense at `now`.
  fileprivate init?(_ request: GenerateCodeRequest, now: Date) {
    guard [nil, UploadGrant.confirmed].contains(request.testType) else { return nil }
    reportType = UploadGrant.confirmed
    guard let text = request.symptomDate else { return }
    guard let date = SymptomDate(text, now: now), let interval = date.interval else { return nil }
    symptomOnsetInterval = interval
  }
}
