// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI
import World

/// POST /api/issue: a new code for the health authority's systems.
struct IssueRoute: Sendable {
  let handler: IssueRequestHandler
  let gate: APIKeyGate

  func add(to router: Router<QuietContext>) {
    GoogleRoute<IssueRequest>(gate: gate, randomness: handler.codeIssuer.randomness)
      .add(VerificationRoute.issue, to: router, decoy: decoy, respond: respond)
  }

  private func respond(
    _ request: GoogleRoute<IssueRequest>.Request
  ) async throws -> PaddedResponse {
    let result = try await handler.issue(
      request.body.body, under: request.apiKeyID, request.context.logger)
    switch result {
    case .success(let response): return try PaddedResponse(response)
    case .failure(let failure): return try PaddedResponse(failure)
    }
  }

  /// Draws a code and stores none.
  private func decoy(
    _ request: GoogleRoute<IssueRequest>.DecoyRequest
  ) async throws -> PaddedResponse {
    try PaddedResponse(handler.decoyResponse())
  }
}

/// POST /api/batch-issue: up to ten new codes; an error of one does not stop the others.
struct BatchIssueRoute: Sendable {
  let handler: IssueRequestHandler
  let gate: APIKeyGate

  func add(to router: Router<QuietContext>) {
    GoogleRoute<BatchIssueRequest>(gate: gate, randomness: handler.codeIssuer.randomness)
      .add(VerificationRoute.batchIssue, to: router, decoy: decoy, respond: respond)
  }

  private func respond(
    _ request: GoogleRoute<BatchIssueRequest>.Request
  ) async throws -> PaddedResponse {
    let codes = request.body.body.codes ?? []
    guard handler.codeIssuer.policy.allowsBatchIssue else {
      return try PaddedResponse(
        VerificationFailure(.unparsableRequest, "This server does not issue batches."))
    }
    guard (1...VerificationLimit.batchIssueCodesMax).contains(codes.count) else {
      return try PaddedResponse(
        VerificationFailure(
          .unparsableRequest,
          "codes must have 1 to \(VerificationLimit.batchIssueCodesMax) elements."))
    }
    var items: [BatchIssueResponse.Item] = []
    var first: FirstError?
    for code in codes {
      let (item, refused) = try await item(code.body, request)
      items.append(item)
      first = first ?? refused
    }
    return try PaddedResponse(
      BatchIssueResponse(codes: items), status: HTTPResponse.Status(code: first?.status ?? 200),
      retryAfterSeconds: first?.retryAfterSeconds)
  }

  /// The status of the response to a batch, from the first error in it.
  private struct FirstError {
    var status: Int
    var retryAfterSeconds: Int?
  }

  /// Returns an error as an item, so that a full disk does not hide the codes issued before it.
  private func item(
    _ code: IssueRequest, _ request: GoogleRoute<BatchIssueRequest>.Request
  ) async throws -> (BatchIssueResponse.Item, FirstError?) {
    do {
      let result = try await handler.issue(code, under: request.apiKeyID, request.context.logger)
      switch result {
      case .success(let response): return (.issued(response), nil)
      case .failure(let failure):
        return (.refused(failure), FirstError(status: failure.errorCode.httpStatus))
      }
    } catch let refusal as QuietRefusal where refusal.retryAfterSeconds != nil {
      return (
        .refused(VerificationFailure(ErrorBody.code(of: refusal), refusal.message)),
        FirstError(
          status: Int(refusal.status.code), retryAfterSeconds: refusal.retryAfterSeconds)
      )
    }
  }

  /// Draws the requested number of codes and stores none.
  private func decoy(
    _ request: GoogleRoute<BatchIssueRequest>.DecoyRequest
  ) async throws -> PaddedResponse {
    let count = request.body?.body.codes?.count ?? 1
    let items = try (0..<min(max(count, 1), VerificationLimit.batchIssueCodesMax)).map { _ in
      BatchIssueResponse.Item.issued(try handler.decoyResponse())
    }
    return try PaddedResponse(BatchIssueResponse(codes: items))
  }
}

/// The body of a batch; unknown fields are rejected in each item as well.
struct BatchIssueRequest: Decodable, NamedFields, Sendable {
  var codes: [Strict<IssueRequest>]?
  var padding: String?

  static let fieldNames: Set<String> = ["codes", "padding"]
}

/// POST /api/checkcodestatus and /api/expirecode: the status of a code, and its end.
struct CodeStatusRoutes: Sendable {
  let storage: any CodeStorage
  let gate: APIKeyGate
  let clock: any WallClock
  let randomness: any Randomness

  private typealias Request = GoogleRoute<CodeHandleRequest>.Request

  func add(to router: Router<QuietContext>) {
    let route = GoogleRoute<CodeHandleRequest>(gate: gate, randomness: randomness)
    route.add(
      VerificationRoute.checkCodeStatus, to: router, decoy: { try await decoy($0, claimed: false) },
      respond: status)
    route.add(
      VerificationRoute.expireCode, to: router, decoy: { try await decoy($0, claimed: nil) },
      respond: expire)
  }

  private func status(_ request: Request) async throws -> PaddedResponse {
    try await respond(request, withClaimed: true) { handle in
      try await storage.status(of: handle)
    }
  }

  private func expire(_ request: Request) async throws -> PaddedResponse {
    try await respond(request, withClaimed: false) { handle in
      // The code of another API key must not be ended.
      guard let status = try await storage.status(of: handle),
        try await mayAdminister(status, request.apiKeyID)
      else {
        return try await storage.status(of: handle)
      }
      return try await storage.expire(handle, at: clock.now)
    }
  }

  /// True if the API key issued the code, or if the issuing key was revoked: then any admin key may end the code.
  private func mayAdminister(_ status: CodeStatus, _ key: APIKeyID?) async throws -> Bool {
    guard status.issuer != key else { return true }
    guard let issuer = status.issuer else { return false }
    return try await storage.apiKey(issuer)?.revokedAt != nil
  }

  private func respond(
    _ request: Request, withClaimed: Bool,
    _ find: @Sendable (UUID) async throws -> CodeStatus?
  ) async throws -> PaddedResponse {
    guard let handle = UUID(uuidString: request.body.body.uuid ?? "") else {
      return try PaddedResponse(VerificationFailure(.unparsableRequest, "uuid must be a UUID."))
    }
    let found = try await QuietRefusal.mappingServerErrors(request.context.logger) {
      try await find(handle)
    }
    guard let status = found else {
      return try PaddedResponse(VerificationFailure(.codeNotFound, "No code has this uuid."))
    }
    let isAllowed = try await QuietRefusal.mappingServerErrors(request.context.logger) {
      try await mayAdminister(status, request.apiKeyID)
    }
    guard isAllowed else {
      return try PaddedResponse(
        VerificationFailure(.codeUserUnauthorized, "The code was issued under another API key."))
    }
    return try PaddedResponse(
      CodeStatusResponse(
        claimed: withClaimed ? status.isClaimed : nil,
        expiresAtTimestamp: status.expiresAt.unixSecond,
        longExpiresAtTimestamp: status.longExpiresAt.unixSecond))
  }

  /// Looks up a random code, and responds with the status of an unused one.
  private func decoy(
    _ request: GoogleRoute<CodeHandleRequest>.DecoyRequest, claimed: Bool?
  ) async throws -> PaddedResponse {
    // The lookup takes as long as that of a real request, and its result is not used.
    _ = try? await storage.status(of: UUID(from: randomness))
    let now = clock.now.unixSecond
    return try PaddedResponse(
      CodeStatusResponse(claimed: claimed, expiresAtTimestamp: now, longExpiresAtTimestamp: now))
  }
}
