// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import QuietHTTP
import TextEncodings
import WebPages
import World

/// The town page: a server on loopback with the page and the state of a town.
package struct TownSite: Sendable {
  private let routes: TownRoutes
  private let secret: WebSecret
  private let port: Int
  private let logger: Logger

  private static let files = [
    "index.html", "town.css", "town.js", "api.js", "dom.js", "texts.js", "map.js", "people.js",
    "clock.js", "feed.js", "tour.js", "texts/en.json", "texts/pl.json",
  ]

  /// Creates a site that listens when it is run.
  ///
  /// - Parameter port: The port, or 0 for any free port.
  /// - Throws: `PageServerError` if the program's own files are missing.
  package init(
    of town: LiveTown, port: Int, randomness: any Randomness, logger: Logger
  ) throws(PageServerError) {
    self.port = port
    self.logger = logger
    secret = WebSecret(randomness: randomness)
    let files = try InstalledFiles(
      Self.files, in: "TownPage", of: "Town", shared: [.pointerGuard])
    routes = TownRoutes(
      town: town, files: files, secret: secret, users: WebUsers(owner: geteuid()))
  }

  /// Serves until the task is cancelled.
  ///
  /// - Parameter ready: Called with the address that the user opens first.
  /// - Throws: `PageServerError.port` if the port is not available, or the error of `ready`.
  package func run(ready: @Sendable (String) throws -> Void) async throws {
    let router = Router(context: QuietContext.self)
    router.add(middleware: routes)
    var quiet = logger
    quiet.logLevel = .critical
    let host = "127.0.0.1"
    let server = QuietServer(router: router, host: host, port: port, logger: quiet)
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        try await PageServerError.run(at: host, port: port) { try await server.run() }
      }
      let bound = await server.boundPort
      if bound > 0 { try ready("http://\(host):\(bound)/?secret=\(secret.hex)") }
      try await group.waitForAll()
    }
  }
}

/// Answers the requests for the town page: checks first, as for the pages of phones, then the state,
/// commands and files.
struct TownRoutes: RouterMiddleware {
  typealias Context = QuietContext

  private static let state = "/town/state"
  private static let commands = "/town/commands"

  let town: LiveTown
  let files: InstalledFiles
  let secret: WebSecret
  let users: WebUsers

  @concurrent func handle(
    _ request: Request, context: QuietContext,
    next: @concurrent (Request, QuietContext) async throws -> Response
  ) async throws -> Response {
    var response = await response(to: request, context)
    response.isolate()
    response.headers[.contentSecurityPolicy] = ContentPolicy.app.header
    return request.method == .head ? response.createHeadResponse() : response
  }

  private func response(to request: Request, _ context: QuietContext) async -> Response {
    let facts = LoopbackGate.Facts(request)
    guard let port = context.serverPort, LoopbackGate(port: port).refusal(of: facts) == nil else {
      return Self.refusal(
        "This page answers at 127.0.0.1 only, and not to other sites: open the printed address.")
    }
    let hasSecret =
      secret.isIn(cookies: facts.headers["cookie"], port: port)
      && users.mayUseSecret(context.peerUserID)
    switch (request.method, facts.path) {
    case (.post, Self.commands):
      guard hasSecret, facts.headers["x-firebreak-town"] == "1" else { return Self.noSecret }
      return await command(request)
    case (.get, Self.state):
      guard hasSecret else { return Self.noSecret }
      return await Self.json(town.facts)
    case (.get, _), (.head, _):
      return reading(request, facts, context, port: port, hasSecret: hasSecret)
    default: return Self.refusal("There is no such page.", .notFound)
    }
  }

  private func reading(
    _ request: Request, _ facts: LoopbackGate.Facts, _ context: QuietContext, port: Int,
    hasSecret: Bool
  ) -> Response {
    if facts.isDocument, let typed = request.uri.queryParameters["secret"], secret.matches(typed) {
      users.admit(context.peerUserID)
      return .redirection(to: "/", setting: secret.cookie(port: port))
    }
    guard hasSecret || users.isOwner(context.peerUserID) else { return Self.noSecret }
    guard var response = files.response(to: facts.path, cacheControl: "no-store") else {
      return Self.refusal("There is no such page.", .notFound)
    }
    if facts.isDocument, !hasSecret { response.headers[.setCookie] = secret.cookie(port: port) }
    return response
  }

  private func command(_ request: Request) async -> Response {
    guard let body = await request.body(atMost: LiveTownLimit.commandBytesMax),
      let command = JSONDecoder().decodeIfValid(TownCommand.self, from: body)
    else { return Self.refusal("This command is not understood: reload the page.", .badRequest) }
    do {
      try await town.perform(command)
      return await Self.json(town.facts)
    } catch {
      return Self.refusal("\(error)", .conflict)
    }
  }

  private static var noSecret: Response {
    refusal("Open the address that `firebreak up` printed: it contains the secret of this start.")
  }

  private static func refusal(
    _ sentence: String, _ status: HTTPResponse.Status = .forbidden
  ) -> Response {
    .unstored(sentence.utf8, type: .plainText, status: status)
  }

  private static func json(_ value: some Encodable) -> Response {
    guard let data = JSONEncoder().encodeIfPossible(value) else {
      return refusal("The state cannot be shown.", .internalServerError)
    }
    return .unstored(data, type: .json)
  }
}
