// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI
import World

/// POST /api/free-phone: a phone may report again, such as after a new infection. An addition to Google's contract.
///
/// The response and its duration are the same for a phone that has not reported, so that the holder of an admin key
/// does not learn who reported.
struct FreePhoneRoute: Sendable {
  let storage: any CodeStorage
  let keys: CodeKeys
  /// True if the server accepts user reports.
  let isOffered: Bool
  let gate: APIKeyGate
  let clock: any WallClock
  let randomness: any Randomness
  /// The recent times of releases of phones that had reported.
  let times: ResponseTimes

  func add(to router: Router<QuietContext>) {
    GoogleRoute<FreePhoneRequest>(gate: gate, randomness: randomness)
      .add(VerificationRoute.freePhone, to: router, decoy: decoy, respond: respond)
  }

  private func respond(
    _ request: GoogleRoute<FreePhoneRequest>.Request
  ) async throws -> PaddedResponse {
    guard isOffered else {
      return try PaddedResponse(
        VerificationFailure(.unsupportedTestType, "This server accepts no user reports."))
    }
    guard let text = request.body.body.phone, !text.isEmpty else {
      return try PaddedResponse(VerificationFailure(.missingPhone, "phone is missing."))
    }
    guard let phone = PhoneNumber(text) else {
      return try PaddedResponse(
        VerificationFailure(
          .phoneNumberInvalid, "phone must be + and 8 to 15 digits (E.164)."))
    }
    let hash = keys.hash(of: Data(phone.text.utf8), for: .phone)
    try await QuietRefusal.mappingServerErrors(request.context.logger) { try await free(hash) }
    return try PaddedResponse(Freed())
  }

  /// Frees the phone. For one that has not reported, this takes as long as for one that has.
  func free(_ phoneHash: Data) async throws {
    let start = times.start()
    let hasReported = try await storage.freePhone(phoneHash, at: clock.now)
    try await times.finish(start, as: hasReported ? .success : .imitation)
  }

  private struct Freed: Encodable {}

  /// Writes as a request does, for a phone that does not exist.
  private func decoy(
    _ request: GoogleRoute<FreePhoneRequest>.DecoyRequest
  ) async throws -> PaddedResponse {
    let hash = keys.hash(of: Data(randomness.bytes(Self.decoyBytes)), for: .phone)
    // The result of a decoy does not depend on the database.
    try? await free(hash)
    return try PaddedResponse(Freed())
  }

  /// More bytes than a phone number has digits.
  private static let decoyBytes = 16
}
