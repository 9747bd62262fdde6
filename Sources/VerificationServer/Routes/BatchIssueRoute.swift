import Hummingbird
import QuietHTTP
import VerificationAPI

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
