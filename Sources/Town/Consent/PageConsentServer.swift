import Foundation
import Hummingbird
import Logging
import Mustache
import QuietHTTP
import Secrets
import ServiceLifecycle

/// Serves the page of a `PageConsent` on loopback.
public struct PageConsentServer: Service {
  /// The maximum length of an answer, in bytes.
  static let answerBytesMax = 256

  private let server: QuietServer

  /// Creates a server; port 0 selects a free port.
  ///
  /// - Throws: If the template is invalid (a programming error).
  public init(_ consent: PageConsent, port: Int = 0, logger: Logger) throws {
    let template = try MustacheTemplate(string: ConsentTemplate.page)
    let router = Router(context: QuietContext.self)
    router.get("/consent/:secret") { request, _ in
      guard Self.hasSecretPath(request, for: consent) else { return Response(status: .notFound) }
      return Self.page(template, await consent.oldest)
    }
    router.post("/consent/:secret") { request, _ in
      guard Self.hasSecretPath(request, for: consent) else { return Response(status: .notFound) }
      return try await Self.take(request, for: consent)
    }
    server = QuietServer(router: router, host: "127.0.0.1", port: port, logger: logger)
  }

  /// The port, once the server listens.
  public var boundPort: Int {
    get async { await server.boundPort }
  }

  public func run() async throws {
    try await server.run()
  }

  private static func hasSecretPath(_ request: Request, for consent: PageConsent) -> Bool {
    isEqualInConstantTime(request.uri.path.utf8, consent.path.utf8)
  }

  private static func take(
    _ request: Request, for consent: PageConsent
  ) async throws -> Response {
    let body = try await request.body.collect(upTo: answerBytesMax)
    let fields = String(buffer: body).split(separator: "&").reduce(into: [String: String]()) {
      let parts = $1.split(separator: "=", maxSplits: 1)
      if parts.count == 2 { $0[String(parts[0])] = String(parts[1]) }
    }
    guard let id = fields["request"], let answer = fields["answer"],
      ["yes", "no"].contains(answer)
    else { return Response(status: .badRequest) }
    // After a second click the request is gone; the page then shows the next one or none.
    _ = await consent.take(answer == "yes", to: id)
    return Response(status: .seeOther, headers: [.location: consent.path])
  }

  private static func page(_ template: MustacheTemplate, _ pending: PendingConsent?) -> Response {
    var content: [String: Any] = ["title": "Exposure notifications"]
    if let pending {
      content["request"] = ["id": pending.id, "app": pending.app, "sentence": pending.sentence]
    }
    return Response(
      status: .ok,
      headers: [
        .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
        .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
      ],
      body: ResponseBody(byteBuffer: ByteBuffer(string: template.render(content))))
  }
}

/// The page: one request, two buttons, no script and no external resources.
enum ConsentTemplate {
  static let page = """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>{{title}}</title>
    <style>
    body { font: 18px/1.5 system-ui, sans-serif; max-width: 32em; margin: 3em auto; padding: 0 1em; color: #1c2430 }
    section { border: 1px solid #c9d1dc; border-radius: 12px; padding: 1.5em }
    .app { color: #56637a; overflow-wrap: anywhere }
    p { overflow-wrap: anywhere }
    button { font: inherit; padding: .5em 1.6em; border-radius: 8px; border: 1px solid #1f5fbf; margin-right: .8em }
    button[value=yes] { background: #1f5fbf; color: white }
    button[value=no] { background: white; color: #1f5fbf }
    </style>
    </head>
    <body>
    <h1>{{title}}</h1>
    <section>
    {{#request}}
    <p class="app">{{app}} asks to:</p>
    <p>{{sentence}}</p>
    <form method="post">
    <input type="hidden" name="request" value="{{id}}">
    <button name="answer" value="yes">Allow</button>
    <button name="answer" value="no">Do not allow</button>
    </form>
    {{/request}}
    {{^request}}
    <p>No pending request. This page reloads every two seconds.</p>
    <meta http-equiv="refresh" content="2">
    {{/request}}
    </section>
    </body>
    </html>
    """
}
