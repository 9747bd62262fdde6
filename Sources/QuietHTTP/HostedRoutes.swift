// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import World

/// The routes of a server that does not listen itself: another server's listener passes on the requests for its hosts.
package struct HostedRoutes: Sendable {
  /// The names of its hosts in lower case, without ports.
  let hosts: Set<String>
  let responder: RouterResponder<QuietContext>

  init(hosts: Set<String>, responder: RouterResponder<QuietContext>) {
    self.hosts = Set(hosts.map { $0.lowercased() })
    self.responder = responder
  }

  /// Routes of a server that cannot be created, such as one whose database is damaged: each response is 503.
  ///
  /// - Parameters:
  ///   - hosts: The names of the hosts, without ports.
  ///   - randomness: The source of the padding.
  package init(unavailableAt hosts: Set<String>, randomness: any Randomness) {
    let router = Router.quiet(refusals: .plain, randomness: randomness)
    router.add(middleware: UnavailableRoutes())
    self.init(hosts: hosts, responder: router.buildResponder())
  }
}

/// Refuses all requests.
private struct UnavailableRoutes: RouterMiddleware {
  func handle(
    _ request: Request, context: QuietContext,
    next: (Request, QuietContext) async throws -> Response
  ) async throws -> Response {
    throw QuietRefusal.unavailable(retryAfterSeconds: QuietLimit.retryAfterSeconds)
  }
}

/// Passes each request to the routes of its host, before anything else is done with it. The header `Host` alone
/// decides, and not a header of a proxy.
struct HostResponder: HTTPResponder {
  /// The routes for all other names: apps may know an address, and probes name the machine.
  private let main: RouterResponder<QuietContext>
  private let hosted: [String: RouterResponder<QuietContext>]

  init(main: RouterResponder<QuietContext>, hosted: [HostedRoutes]) {
    self.main = main
    self.hosted = Dictionary(
      hosted.flatMap { routes in routes.hosts.map { ($0, routes.responder) } }
    ) { first, _ in first }
  }

  func respond(to request: Request, context: QuietContext) async throws -> Response {
    try await responder(for: request.head.authority).respond(to: request, context: context)
  }

  private func responder(for authority: String?) -> RouterResponder<QuietContext> {
    guard !hosted.isEmpty, let authority else { return main }
    // A dot at the end is the root of the domain names, which clients may write.
    var name = authority.prefix { $0 != ":" }
    if name.hasSuffix(".") { name.removeLast() }
    return hosted[name.lowercased()] ?? main
  }
}
