import Hummingbird
import World

extension Router where Context == QuietContext {
  /// A router with what every server wears: one log line a request without address, path, query or
  /// body; errors without internals, in the form `refusals`; headers that all answers have; and
  /// leave for the browser pages of `allowedOrigin` (such as `https://app.example`), if any. Budgets go
  /// by the address of the connection, or by the client's where one of `trustedProxies` names it.
  public static func quiet(
    refusals: RefusalForm, allowedOrigin: String? = nil, trustedProxies: TrustedProxies = .none,
    randomness: any Randomness
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
      middleware: QuietDoor(
        refusals: refusals, trustedProxies: trustedProxies, randomness: randomness))
    return router
  }

  /// Answers POST on `path` by `route`.
  public func post<Body>(_ path: RouterPath, _ route: QuietRoute<Body>) {
    post(path) { request, context in try await route.respond(to: request, in: context) }
  }

  /// Answers GET on `path` with the page that `page` gives: public, the same for everybody.
  public func page(
    _ path: RouterPath, _ page: @escaping @Sendable () throws -> QuietPage
  ) {
    get(path) { _, _ in try page().response }
  }
}
