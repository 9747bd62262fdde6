// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import World

extension Router where Context == QuietContext {
  /// Creates a router with the behavior of all servers.
  ///
  /// It logs one line per request without address, path, query or body, and returns errors without
  /// internals.
  ///
  /// - Parameters:
  ///   - refusals: The form of errors outside the routes.
  ///   - allowedOrigin: The origin of web pages that may use the server, such as `https://app.example`.
  ///   - trustedProxies: The proxies whose `X-Forwarded-For` determines the client.
  ///   - randomness: The source of the padding.
  public static func quiet(
    refusals: ErrorBody, allowedOrigin: String? = nil, trustedProxies: TrustedProxies = .none,
    randomness: any Randomness
  ) -> Router<QuietContext> {
    quiet(
      refusals: refusals, allowedOrigin: allowedOrigin, trustedProxies: trustedProxies,
      randomness: randomness, metrics: nil)
  }

  /// Creates the same router, whose requests are counted in `metrics`.
  package static func quiet(
    refusals: ErrorBody, allowedOrigin: String? = nil, trustedProxies: TrustedProxies = .none,
    randomness: any Randomness, metrics: RequestMetrics?
  ) -> Router<QuietContext> {
    let router = Router(
      context: QuietContext.self, options: .autoGenerateHeadEndpoints)
    if let allowedOrigin {
      router.add(
        middleware: CORSMiddleware<QuietContext>(
          allowOrigin: .custom(allowedOrigin),
          allowHeaders: [.contentType, .chaff, .apiToken, .apiKey],
          allowMethods: [.get, .post], maxAge: .seconds(600)))
    }
    router.add(
      middleware: RequestMiddleware(
        refusals: refusals, trustedProxies: trustedProxies, randomness: randomness,
        metrics: metrics))
    return router
  }

  /// Adds a POST route.
  public func post<Body>(_ path: RouterPath, _ route: QuietRoute<Body>) {
    post(path) { request, context in try await route.respond(to: request, in: context) }
  }

  /// Adds a GET route that returns a public page.
  public func page(
    _ path: RouterPath, _ page: @escaping @Sendable () throws -> QuietPage
  ) {
    get(path) { _, _ in try page().response }
  }
}

/// A public page that is the same for all clients, such as the public keys of a server.
public struct QuietPage: Sendable {
  private let body: Data
  private let maxAgeSeconds: Int

  /// Encodes `value` as JSON that caches may keep for `maxAgeSeconds`.
  ///
  /// - Throws: `EncodingError`.
  public init(_ value: some Encodable, maxAgeSeconds: Int) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    body = try encoder.encode(value)
    self.maxAgeSeconds = maxAgeSeconds
  }

  var response: Response {
    Response(
      status: .ok,
      headers: [
        .contentType: "application/json; charset=utf-8",
        .cacheControl: "public, max-age=\(maxAgeSeconds)", .contentLength: "\(body.count)",
      ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
  }
}

/// Logs one line per request, hides internal errors, adds the common headers, and closes connections
/// whose body is not read.
struct RequestMiddleware: RouterMiddleware {
  typealias Context = QuietContext

  let refusals: ErrorBody
  var trustedProxies = TrustedProxies.none
  let randomness: any Randomness
  var metrics: RequestMetrics?

  func handle(
    _ request: Request, context: QuietContext,
    next: (Request, QuietContext) async throws -> Response
  ) async throws -> Response {
    let start = ContinuousClock.now
    var context = context.logging(
      as: LoggedRequestID.text(
        of: request.headers, from: context.connection.peer, trustedProxies))
    context.client = trustedProxies.client(
      of: context.connection.peer, headers: request.headers)
    var response = try await response(to: request, context: context, next: next)
    response.headers[.xContentTypeOptions] = "nosniff"
    let closes = !context.connection.bodyIsRead && request.mayHaveBody
    if closes { response.headers[.connection] = "close" }
    // A client would read a body as the start of the next response (RFC 9110, 9.3.2).
    if request.method == .head { response = response.createHeadResponse() }
    if closes { response.body = response.body.closing(context.connection) }
    // The pattern of the route, because the path may contain user input.
    let duration = ContinuousClock.now - start
    // With the requests of probes an alert about missing requests would never fire.
    if !HealthRoutes.contains(request) {
      metrics?.record(
        route: context.endpointPath ?? "-", status: response.status, duration: duration)
    }
    context.logger.info(
      "\(request.method.rawValue) \(context.endpointPath ?? "-") \(response.status.code)",
      metadata: ["milliseconds": "\(milliseconds(duration))"])
    return response
  }

  private func response(
    to request: Request, context: QuietContext,
    next: (Request, QuietContext) async throws -> Response
  ) async throws -> Response {
    let refusal: QuietRefusal
    do {
      // A route with a body checks it after it has read the body, so that the connection can be used again.
      if !request.mayHaveBody, !HealthRoutes.contains(request) { try context.refuseIfOverloaded() }
      return try await next(request, context)
    } catch let error as QuietRefusal {
      refusal = error
    } catch let error as HTTPError {
      refusal = Self.refusal(for: error)
    } catch {
      context.logger.error("route failed", metadata: ["cause": "\(ErrorCause.text(error))"])
      refusal = .internalError
    }
    return try PaddedResponse(refusal, form: refusals).response(padding: randomness)
  }

  private static func refusal(for error: HTTPError) -> QuietRefusal {
    switch error.status.code {
    case 404, 405: .notFound
    case 400..<500: .malformed
    default: .internalError
    }
  }

  private func milliseconds(_ duration: Duration) -> Int64 {
    duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
  }
}

extension ResponseBody {
  /// The same body; `QuietLimit.lingerSeconds` after it was written, the connection closes.
  fileprivate func closing(_ connection: Connection) -> ResponseBody {
    ResponseBody(contentLength: contentLength) { writer in
      defer { connection.close(after: QuietLimit.lingerSeconds) }
      try await self.write(writer)
    }
  }
}

extension Request {
  /// True if the request announces a body, as `HTTPRequestHead.mayHaveBody`.
  var mayHaveBody: Bool {
    headers[.transferEncoding] != nil || (headers[.contentLength].map { $0 != "0" } ?? false)
  }
}

extension HTTPFields.Element.Name {
  /// Marks a decoy, with any value.
  public static let chaff = Self.own("x-chaff")
  /// The credential of a caller that may issue codes, ProteGO Safe contract.
  static let apiToken = Self.own("api-token")

  /// The credential of an app or of a health authority, Google's contract.
  public static let apiKey = Self.own("x-api-key")
  /// The identity of a request in the log of a proxy.
  static let requestID = Self.own("x-request-id")
  static let forwardedFor = Self.own("x-forwarded-for")

  /// A valid header name from this file. The fallback is never used.
  private static func own(_ name: String) -> Self {
    Self(name) ?? .cacheControl
  }
}
