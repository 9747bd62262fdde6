import Foundation
import Hummingbird
import Logging
import World

/// What stands before every route: one log line, no error of ours in an answer, the headers that
/// all answers have, and an end to peers that keep sending what nobody reads.
struct QuietDoor: RouterMiddleware {
  typealias Context = QuietContext

  let refusals: RefusalForm
  var trustedProxies = TrustedProxies.none
  let randomness: any Randomness

  func handle(
    _ request: Request, context: QuietContext,
    next: (Request, QuietContext) async throws -> Response
  ) async throws -> Response {
    let start = ContinuousClock.now
    var context = context
    context.client = trustedProxies.client(
      of: context.connection.peer, headers: request.headers)
    var response = try await answered(request, context: context, next: next)
    response.headers[.xContentTypeOptions] = "nosniff"
    if !context.connection.bodyIsRead && request.mayHaveBody {
      response.headers[.connection] = "close"
      context.connection.hangUp(after: QuietLimit.lingerSeconds)
    }
    // A body here would be read as the beginning of the next answer (RFC 9110, 9.3.2).
    if request.method == .head { response = response.createHeadResponse() }
    // The route's pattern and not the path, which may hold what a person typed.
    context.logger.info(
      "\(request.method.rawValue) \(context.endpointPath ?? "-") \(response.status.code)",
      metadata: ["milliseconds": "\(milliseconds(ContinuousClock.now - start))"])
    return response
  }

  private func answered(
    _ request: Request, context: QuietContext,
    next: (Request, QuietContext) async throws -> Response
  ) async throws -> Response {
    let refusal: QuietRefusal
    do {
      return try await next(request, context)
    } catch let error as QuietRefusal {
      refusal = error
    } catch let error as HTTPError {
      refusal = Self.refusal(for: error)
    } catch {
      context.logger.error("a route failed", metadata: ["kind": "\(type(of: error))"])
      refusal = .ourFault
    }
    return try QuietAnswer(refusal, form: refusals).response(padding: randomness)
  }

  private static func refusal(for error: HTTPError) -> QuietRefusal {
    switch error.status.code {
    case 404, 405: .notFound
    case 400..<500: .malformed
    default: .ourFault
    }
  }

  private func milliseconds(_ duration: Duration) -> Int64 {
    duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
  }
}

extension Request {
  /// Whether more than the head is on its way.
  var mayHaveBody: Bool {
    headers[.transferEncoding] != nil || (headers[.contentLength].map { $0 != "0" } ?? false)
  }
}
