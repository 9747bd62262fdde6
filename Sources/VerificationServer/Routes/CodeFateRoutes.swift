import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI
import World

/// POST /api/checkcodestatus and /api/expirecode: what became of a code, and its end.
///
/// Documentation/VerificationServer.md 3.7.
struct CodeFateRoutes: Sendable {
  let storage: any CodeStorage
  let caller: Caller
  let clock: any WallClock
  let randomness: any Randomness

  private typealias Question = GoogleRoute<CodeHandleRequest>.Question

  func add(to router: Router<QuietContext>) {
    let route = GoogleRoute<CodeHandleRequest>(caller: caller, randomness: randomness)
    route.add(
      VerificationRoute.checkCodeStatus, to: router, decoy: { try await decoy($0, claimed: false) },
      answer: status)
    route.add(
      VerificationRoute.expireCode, to: router, decoy: { try await decoy($0, claimed: nil) },
      answer: expire)
  }

  private func status(_ request: Question) async throws -> QuietAnswer {
    try await answer(request, saysClaimed: true) { handle in try await storage.fate(handle) }
  }

  private func expire(_ request: Question) async throws -> QuietAnswer {
    try await answer(request, saysClaimed: false) { handle in
      // Another key's code must not end before it is known to be another's.
      guard let fate = try await storage.fate(handle), fate.issuer == request.apiKeyID else {
        return try await storage.fate(handle)
      }
      return try await storage.expire(handle, at: clock.now)
    }
  }

  private func answer(
    _ request: Question, saysClaimed: Bool,
    _ find: @Sendable (UUID) async throws -> CodeFate?
  ) async throws -> QuietAnswer {
    guard let handle = UUID(uuidString: request.body.body.uuid ?? "") else {
      return try QuietAnswer(VerificationFailure(.unparsableRequest, "uuid must be a UUID."))
    }
    let found = try await QuietRefusal.whereStorageFails(request.context.logger) {
      try await find(handle)
    }
    guard let fate = found else {
      return try QuietAnswer(VerificationFailure(.codeNotFound, "No code has this uuid."))
    }
    guard fate.issuer == request.apiKeyID else {
      return try QuietAnswer(
        VerificationFailure(.codeUserUnauthorized, "The code was issued under another API key."))
    }
    return try QuietAnswer(
      CodeStatusAnswer(
        claimed: saysClaimed ? fate.isClaimed : nil,
        expiresAtTimestamp: fate.expiresAt.unixSecond,
        longExpiresAtTimestamp: fate.longExpiresAt.unixSecond))
  }

  /// Looks for a code as a real request does, and tells of one that never was.
  private func decoy(
    _ request: GoogleRoute<CodeHandleRequest>.DecoyQuestion, claimed: Bool?
  ) async throws -> QuietAnswer {
    _ = try? await storage.fate(UUID(from: randomness))
    let now = clock.now.unixSecond
    return try QuietAnswer(
      CodeStatusAnswer(claimed: claimed, expiresAtTimestamp: now, longExpiresAtTimestamp: now))
  }
}
