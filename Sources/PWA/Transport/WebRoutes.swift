// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore
import QuietHTTP
import TextEncodings
import WebPages

/// Answers all requests of the server: checks first, then the bridge or the web app.
struct WebRoutes: RouterMiddleware {
  typealias Context = QuietContext

  let bridge: Bridge
  let pages: PageRoutes
  let script: Data
  /// Scripts that the web app shares with other pages.
  let shared: InstalledFiles
  let secret: WebSecret
  /// The secret of the copy of the pages; `nil` without a copy.
  let copySecret: WebSecret?
  let users: WebUsers
  /// The texts of a language as JSON.
  let texts: @Sendable (String) -> Data?

  func handle(
    _ request: Request, context: QuietContext,
    next: (Request, QuietContext) async throws -> Response
  ) async throws -> Response {
    var response = await response(to: request, context)
    response.isolate()
    return request.method == .head ? response.createHeadResponse() : response
  }

  private func response(to request: Request, _ context: QuietContext) async -> Response {
    let facts = LoopbackGate.Facts(request, paths: WebPath.ofBridge)
    guard let port = context.serverPort else { return WebResponses.noSecret }
    let gate = LoopbackGate(port: port)
    if let refusal = gate.refusal(of: facts) {
      guard refusal == .otherSite, gate.isForThisHost(facts) else {
        return WebResponses.refusal(refusal)
      }
      return await copyResponse(to: request, facts, context)
        ?? linkResponse(to: request, facts, context, port: port)
        ?? WebResponses.refusal(refusal)
    }
    // A browser sends its cookies to every server on this machine, also to one of another user.
    let hasSecret =
      secret.isIn(cookies: facts.headers["cookie"], port: port)
      && users.mayUseSecret(context.peerUserID)
    switch (request.method, facts.path) {
    case (.post, WebPath.messages):
      return hasSecret ? await message(request, facts) : WebResponses.noSecret
    case (.post, WebPath.session): return session(facts, context, port: port)
    case (.get, WebPath.events):
      return hasSecret ? EventStream.response(request, of: bridge) : WebResponses.noSecret
    case (.get, _), (.head, _):
      return reading(request, facts, context, port: port, hasSecret: hasSecret)
    default: return WebResponses.notFound
    }
  }

  /// The response to a page of the copy, which a browser shows from a file; `nil` for another request.
  ///
  /// The origin of files is `null`, and pages of other sites can have it too, so only the secret of the copy counts.
  private func copyResponse(
    to request: Request, _ facts: LoopbackGate.Facts, _ context: QuietContext
  ) async -> Response? {
    guard facts.headers["origin"] == "null", let copySecret,
      let stated = request.uri.queryParameters["secret"], copySecret.matches(stated),
      users.mayUseSecret(context.peerUserID)
    else { return nil }
    var response: Response
    switch (request.method, facts.path) {
    case (.post, WebPath.messages): response = await answer(to: request)
    case (.get, WebPath.events): response = EventStream.response(request, of: bridge)
    default: return nil
    }
    response.headers[.accessControlAllowOrigin] = "null"
    return response
  }

  /// The response to a link on a page of another origin that has the secret, such as a link of the town to a phone;
  /// `nil` for another request.
  ///
  /// A redirection would count as a request of the other page, so a page of this server opens the app.
  private func linkResponse(
    to request: Request, _ facts: LoopbackGate.Facts, _ context: QuietContext, port: Int
  ) -> Response? {
    guard facts.isReading, facts.isDocument, facts.headers["origin"] == nil,
      let stated = request.uri.queryParameters["secret"], secret.matches(stated)
    else { return nil }
    users.admit(context.peerUserID)
    var response = WebResponses.entrance(to: request.targetWithoutSecret)
    response.headers[.setCookie] = secret.cookie(port: port)
    return response
  }

  /// The answer to a message of a page.
  private func message(_ request: Request, _ facts: LoopbackGate.Facts) async -> Response {
    guard facts.isFromScript else { return WebResponses.noSecret }
    guard facts.isJSON else {
      return WebResponses.json(
        #"{"error":"Send application/json."}"#, status: .unsupportedMediaType)
    }
    return await answer(to: request)
  }

  private func answer(to request: Request) async -> Response {
    guard let body = await request.body(atMost: BridgeLimit.messageBytesMax) else {
      return WebResponses.tooLarge
    }
    guard let message = BridgeMessage(body: body) else {
      return WebResponses.json(
        #"{"error":"Send {\"type\":number,\"data\":text or null,\"requestId\":text or null}."}"#,
        status: .badRequest)
    }
    let answer: JSONValue = ["body": .string(await bridge.answer(to: message))]
    return WebResponses.json(answer.text)
  }

  /// Gives the current secret to a page that was opened before a restart, such as an installed app.
  private func session(
    _ facts: LoopbackGate.Facts, _ context: QuietContext, port: Int
  ) -> Response {
    guard facts.isFromScript, users.isOwner(context.peerUserID) else {
      return WebResponses.noSecret
    }
    return Response(
      status: .noContent,
      headers: [.setCookie: secret.cookie(port: port), .cacheControl: "no-store"])
  }

  private func reading(
    _ request: Request, _ facts: LoopbackGate.Facts, _ context: QuietContext, port: Int,
    hasSecret: Bool
  ) -> Response {
    if facts.isDocument, let typed = request.uri.queryParameters["secret"], secret.matches(typed) {
      users.admit(context.peerUserID)
      return .redirection(
        to: request.targetWithoutSecret, setting: secret.cookie(port: port))
    }
    // A manifest is loaded without cookies, so the owner's processes get files without the secret.
    if facts.isServiceWorker, !pages.hasFile(at: facts.path) { return WebResponses.endOfWorker }
    guard hasSecret || users.isOwner(context.peerUserID) else { return WebResponses.noSecret }
    var response = content(request, facts)
    if facts.isDocument, !hasSecret { response.headers[.setCookie] = secret.cookie(port: port) }
    return response
  }

  private func content(_ request: Request, _ facts: LoopbackGate.Facts) -> Response {
    if facts.path == WebPath.script {
      return Response(
        status: .ok,
        headers: [
          .contentType: ContentType(fileName: "bridge.js").header, .cacheControl: "no-cache",
        ],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: script)))
    }
    if facts.path.hasPrefix(WebPath.texts) {
      let language = facts.path.dropFirst(WebPath.texts.count)
      guard language.hasSuffix(".json"), let texts = texts(String(language.dropLast(5))) else {
        return WebResponses.notFound
      }
      return WebResponses.catalogue(texts, to: request)
    }
    if facts.path.hasPrefix(WebPath.open), facts.isDocument {
      return opened(facts.path.dropFirst(WebPath.open.count), request)
    }
    if facts.path.hasPrefix(WebPath.bridge) {
      // The path below `WebPath.bridge`, from its slash on.
      let path = String(facts.path.dropFirst(WebPath.bridge.count - 1))
      return shared.response(to: path, cacheControl: "no-cache") ?? WebResponses.notFound
    }
    return pages.response(request, path: facts.path, wantsDocument: facts.wantsDocument)
  }

  /// A link to a screen of the app: the next page that is loaded opens it.
  private func opened(_ name: Substring, _ request: Request) -> Response {
    let pairs = request.uri.queryParameters.map { (String($0.key), String($0.value)) }
    guard let route = PageRoute(name, parameters: Dictionary(pairs) { $1 }) else {
      return WebResponses.notFound
    }
    bridge.open(route)
    return .redirection(to: "/")
  }
}

extension LoopbackGate.Facts {
  /// True if a script of a page of this server sends it: other sites' pages cannot set this header.
  fileprivate var isFromScript: Bool { headers["x-firebreak-bridge"] == "1" }

  /// True if a browser looks for a new version of a service worker.
  fileprivate var isServiceWorker: Bool { headers["service-worker"] == "script" }

  fileprivate var isJSON: Bool {
    let type = headers["content-type"]?.split(separator: ";").first
    return type?.trimmingCharacters(in: .whitespaces).lowercased() == ContentType.json.header
  }
}

extension Request {
  /// The path and the query without the secret, for a redirection to the same page; `/` if it has unusual characters,
  /// or would lead to another server.
  fileprivate var targetWithoutSecret: String {
    let items = (uri.query ?? "").split(separator: "&").filter { !$0.hasPrefix("secret=") }
    let target = uri.path + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    let isPlain = target.utf8.allSatisfy { byte in
      Self.plain.contains(byte) || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
    }
    return isPlain && target.hasPrefix("/") && !target.hasPrefix("//") ? target : "/"
  }

  private static let plain = Set("0123456789/-._~%?=&".utf8)
}

/// The stream of events of one page (server-sent events): the pushes of the phone.
enum EventStream {
  /// The answer to a request for the events. It ends with the page, with the server, or when a newer page needs it.
  static func response(_ request: Request, of bridge: Bridge) -> Response {
    .events(to: request, from: { await bridge.connect() }, text: text)
  }

  static func text(of event: BridgePushes.Event) -> String {
    switch event {
    case .push(let push): "event: push\ndata: \(push.line)\n\n"
    case .heartbeat: ":\n\n"
    case .replaced: "event: replaced\ndata: {}\n\n"
    }
  }
}

/// The answers of the server that are not from the web app.
enum WebResponses {
  /// A JSON document.
  static func json(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
    .unstored(text.utf8, type: .json, status: status)
  }

  /// The catalogue of a language.
  static func catalogue(_ texts: Data, to request: Request) -> Response {
    let deflated = ContentCoding.deflated(texts, for: request)
    var response = Response.unstored(deflated ?? texts, type: .json)
    response.headers[.vary] = "accept-encoding"
    if deflated != nil { response.headers[.contentEncoding] = "deflate" }
    return response
  }

  /// A page that opens a target of this server at once. Only its `&` needs escaping.
  static func entrance(to target: String) -> Response {
    let path = target.replacing("&", with: "&amp;")
    return document(
      title: "Firebreak", head: #"<meta http-equiv="refresh" content="0; url=\#(path)">"#,
      body: #"<p><a href="\#(path)">Open the app</a></p>"#)
  }

  /// A short page for a person: a heading and a sentence that says what to do.
  static func page(
    _ status: HTTPResponse.Status, _ title: String, _ sentence: String
  ) -> Response {
    document(
      title: title,
      body:
        #"<main><h1>\#(title)</h1><p>\#(sentence)</p><p><a href="/">Open the app</a></p></main>"#,
      status: status)
  }

  private static func document(
    title: String, head: String = "", body: String, status: HTTPResponse.Status = .ok
  ) -> Response {
    let html = """
      <!doctype html>
      <html lang="en">
      <head><title>\(title)</title><meta name="viewport" content="width=device-width">\(head)</head>
      <body>\(body)</body>
      </html>
      """
    return inert(html, type: .html, status: status)
  }

  /// A text of our own that loads nothing.
  private static func inert(
    _ text: String, type: ContentType, status: HTTPResponse.Status = .ok
  ) -> Response {
    var response = Response.unstored(text.utf8, type: type, status: status)
    response.headers[.contentSecurityPolicy] = ContentPolicy.inert.header
    return response
  }

  static func refusal(_ refusal: LoopbackGate.Refusal) -> Response {
    switch refusal {
    case .otherHost:
      page(
        .misdirectedRequest, "Wrong address",
        "This phone answers at 127.0.0.1 and localhost only: open the address that it printed.")
    case .otherSite:
      page(
        .forbidden, "Opened by another site",
        "Another page asked for this one. If you want it, open it here.")
    case .frame:
      page(.forbidden, "Not in a frame", "This phone is not shown inside other pages.")
    }
  }

  /// For a request without the secret that does not come from a process of the owner.
  static var noSecret: Response {
    page(
      .forbidden, "Not allowed",
      "Open the address that firebreak phone run printed: it contains the secret of this start.")
  }

  static var notFound: Response {
    page(.notFound, "Not found", "There is no such page: check the address.")
  }

  /// A service worker that removes itself, in place of one that an earlier web app on this port has installed.
  static var endOfWorker: Response {
    let script = """
      addEventListener('install', () => skipWaiting());
      addEventListener('activate', (event) => event.waitUntil((async () => {
        for (const name of await caches.keys()) await caches.delete(name);
        await registration.unregister();
        for (const page of await clients.matchAll({ type: 'window' })) await page.navigate(page.url);
      })()));
      """
    return inert(script, type: ContentType(fileName: "service-worker.js"))
  }

  static var tooLarge: Response {
    page(
      .contentTooLarge, "Too large",
      "The file or message is too large: the limits are in Documentation/Bridge.md.")
  }
}

/// The paths of the bridge. All others are the web app's.
enum WebPath {
  static let bridge = "/firebreak/"
  static let script = "/firebreak/bridge.js"
  static let messages = "/firebreak/messages"
  static let events = "/firebreak/events"
  static let session = "/firebreak/session"
  static let texts = "/firebreak/texts/"
  static let open = "/firebreak/open/"

  /// The paths that are not pages of the web app.
  static let ofBridge = LoopbackGate.Paths.below(
    bridge, exceptBelow: open, scripted: [messages, events, session])
}
