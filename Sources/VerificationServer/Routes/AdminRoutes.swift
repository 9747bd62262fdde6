import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI
import World

/// POST /api/issue: a new code for the health authority's own systems.
///
/// Documentation/VerificationServer.md 3.2.
struct IssueRoute: Sendable {
  let desk: IssueDesk
  let caller: Caller

  func add(to router: Router<QuietContext>) {
    GoogleRoute<IssueRequest>(caller: caller, randomness: desk.issuance.randomness)
      .add(VerificationRoute.issue, to: router, decoy: decoy, answer: answer)
  }

  private func answer(_ request: GoogleRoute<IssueRequest>.Question) async throws -> QuietAnswer {
    let result = try await desk.issue(
      request.body.body, under: request.apiKeyID, request.context.logger)
    switch result {
    case .success(let answer): return try QuietAnswer(answer)
    case .failure(let failure): return try QuietAnswer(failure)
    }
  }

  /// Draws a code and keeps none.
  private func decoy(
    _ request: GoogleRoute<IssueRequest>.DecoyQuestion
  ) async throws -> QuietAnswer {
    try QuietAnswer(desk.pretended())
  }
}

/// POST /api/batch-issue: up to ten new codes; one that is refused does not stop the others.
///
/// Documentation/VerificationServer.md 3.6.
struct BatchIssueRoute: Sendable {
  let desk: IssueDesk
  let caller: Caller

  func add(to router: Router<QuietContext>) {
    GoogleRoute<BatchIssueRequest>(caller: caller, randomness: desk.issuance.randomness)
      .add(VerificationRoute.batchIssue, to: router, decoy: decoy, answer: answer)
  }

  private func answer(
    _ request: GoogleRoute<BatchIssueRequest>.Question
  ) async throws -> QuietAnswer {
    let orders = request.body.body.codes ?? []
    guard desk.issuance.policy.allowsBatchIssue else {
      return try QuietAnswer(
        VerificationFailure(.unparsableRequest, "This server issues no batches."))
    }
    guard (1...VerificationLimit.batchIssueCodesMax).contains(orders.count) else {
      return try QuietAnswer(
        VerificationFailure(
          .unparsableRequest,
          "codes must have 1 to \(VerificationLimit.batchIssueCodesMax) elements."))
    }
    var items: [BatchIssueAnswer.Item] = []
    var first: Refused?
    for order in orders {
      let (item, refused) = try await item(order.body, request)
      items.append(item)
      first = first ?? refused
    }
    return try QuietAnswer(
      BatchIssueAnswer(codes: items), status: HTTPResponse.Status(code: first?.status ?? 200),
      retryAfterSeconds: first?.retryAfterSeconds)
  }

  /// How the first refusal of a batch makes the whole be answered.
  private struct Refused {
    var status: Int
    var retryAfterSeconds: Int?
  }

  /// A full disk in the middle must not hide the codes that were issued before it.
  private func item(
    _ order: IssueRequest, _ request: GoogleRoute<BatchIssueRequest>.Question
  ) async throws -> (BatchIssueAnswer.Item, Refused?) {
    do {
      let result = try await desk.issue(order, under: request.apiKeyID, request.context.logger)
      switch result {
      case .success(let answer): return (.issued(answer), nil)
      case .failure(let failure):
        return (.refused(failure), Refused(status: failure.errorCode.httpStatus))
      }
    } catch let refusal as QuietRefusal where refusal.retryAfterSeconds != nil {
      return (
        .refused(VerificationFailure(RefusalForm.code(of: refusal), refusal.message)),
        Refused(
          status: Int(refusal.status.code), retryAfterSeconds: refusal.retryAfterSeconds)
      )
    }
  }

  /// As many codes as were asked for, of which none is kept.
  private func decoy(
    _ request: GoogleRoute<BatchIssueRequest>.DecoyQuestion
  ) async throws -> QuietAnswer {
    let count = request.body?.body.codes?.count ?? 1
    let items = try (0..<min(max(count, 1), VerificationLimit.batchIssueCodesMax)).map { _ in
      BatchIssueAnswer.Item.issued(try desk.pretended())
    }
    return try QuietAnswer(BatchIssueAnswer(codes: items))
  }
}

/// Asks for several codes; a field that is not named is refused inside each as well.
struct BatchIssueRequest: Decodable, NamedFields, Sendable {
  var codes: [Strict<IssueRequest>]?
  var padding: String?

  static let fieldNames: Set<String> = ["codes", "padding"]
}

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
