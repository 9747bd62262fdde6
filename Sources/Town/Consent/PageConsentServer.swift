import Crypto
import Foundation
import Hummingbird
import Logging
import Mustache
import QuietHTTP
import ServiceLifecycle

/// The page of a `PageConsent` on a port of loopback.
public struct PageConsentServer: Service {
  /// The largest answer, in bytes: two short fields.
  static let responseBytesMax = 256

  private let server: QuietServer

  /// A server for `consent`; port 0 takes a free one.
  ///
  /// - Throws: the template's own error, which would be a mistake of ours.
  public init(_ consent: PageConsent, port: Int = 0, logger: Logger) throws {
    let template = try MustacheTemplate(string: ConsentTemplate.page)
    let router = Router(context: QuietContext.self)
    router.get("/consent/:secret") { request, _ in
      guard Self.isRight(request, for: consent) else { return Response(status: .notFound) }
      return Self.page(template, await consent.question)
    }
    router.post("/consent/:secret") { request, _ in
      guard Self.isRight(request, for: consent) else { return Response(status: .notFound) }
      return try await Self.take(request, for: consent)
    }
    server = QuietServer(router: router, host: "127.0.0.1", port: port, logger: logger)
  }

  /// Where it listens, once it does.
  public var boundPort: Int {
    get async { await server.boundPort }
  }

  public func run() async throws {
    try await server.run()
  }

  /// Digests are compared in constant time, and their bytes tell nothing of the path.
  private static func isRight(_ request: Request, for consent: PageConsent) -> Bool {
    SHA256.hash(data: Data(request.uri.path.utf8)) == SHA256.hash(data: Data(consent.path.utf8))
  }

  private static func take(
    _ request: Request, for consent: PageConsent
  ) async throws -> Response {
    let body = try await request.body.collect(upTo: responseBytesMax)
    let fields = String(buffer: body).split(separator: "&").reduce(into: [String: String]()) {
      let parts = $1.split(separator: "=", maxSplits: 1)
      if parts.count == 2 { $0[String(parts[0])] = String(parts[1]) }
    }
    guard let id = fields["question"], let answer = fields["answer"],
      ["yes", "no"].contains(answer)
    else { return Response(status: .badRequest) }
    // A second click finds no question; the page then shows the next one, or none.
    _ = await consent.take(answer == "yes", to: id)
    return Response(status: .seeOther, headers: [.location: consent.path])
  }

  private static func page(_ template: MustacheTemplate, _ question: ConsentQuestion?) -> Response {
    var content: [String: Any] = ["title": "Exposure notifications"]
    if let question {
      content["question"] = ["id": question.id, "app": question.app, "sentence": question.sentence]
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
