import Hummingbird
import World

extension Router where Context == QuietContext {
  /// A router with what every server wears: one log line a request without address, path, query or
  /// body; errors without internals, in the form `refusals`; headers that all answers have; and
  /// leave for the browser pages of `allowedOrigin` (such as `https://app.example`), if any.
  public static func quiet(
    refusals: RefusalForm, allowedOrigin: String? = nil, randomness: any Randomness
  ) -> Router<QuietContext> {
    let router = Router(
      context: QuietContext.self, options: .autoGenerateHeadEndpoints)
    if let allowedOrigin {
      router.add(
        middleware: CORSMiddleware<QuietContext>(
          allowOrigin: .custom(allowedOrigin), allowHeaders: [.contentType, .chaff, .apiToken],
          allowMethods: [.get, .post], maxAge: .seconds(600)))
    }
    router.add(middleware: QuietDoor(refusals: refusals, randomness: randomness))
    return router
  }

  /// Answers POST on `path` by `route`.
  public func post<Body>(_ path: RouterPath, _ route: QuietRoute<Body>) {
    post(path) { request, context in try await route.respond(to: request, in: context) }
  }
}
