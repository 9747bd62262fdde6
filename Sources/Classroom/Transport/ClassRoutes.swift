import Foundation
import Hummingbird
import NIOCore
import QuietHTTP

/// Answers all requests of the class: checks first, then pages, commands and events.
struct ClassRoutes: RouterMiddleware {
  typealias Context = QuietContext

  let lesson: Lesson
  let files: ClassFiles
  let secret: TeacherSecret
  /// The names of this machine.
  let hosts: [String]

  @concurrent func handle(
    _ request: Request, context: QuietContext,
    next: @concurrent (Request, QuietContext) async throws -> Response
  ) async throws -> Response {
    var response = await response(to: request, port: context.serverPort ?? 0)
    ClassResponses.addCommonHeaders(to: &response)
    return request.method == .head ? response.createHeadResponse() : response
  }

  private func response(to request: Request, port: Int) async -> Response {
    let addresses = ClassAddresses(hosts: hosts, port: port)
    let responses = ClassResponses(to: request)
    switch ClassGate(addresses: addresses).refusal(of: request) {
    case .otherHost:
      let items = addresses.all.map { address -> HTML in
        "<li><a href=\"\(address)\">\(address)</a></li>"
      }
      return responses.refusal(
        .misdirectedRequest, .wrongHostTitle, .wrongHostText, more: "<ul>\(items)</ul>")
    case .otherSite: return responses.refusal(.forbidden, .otherSiteTitle, .otherSiteText)
    case nil: break
    }
    let path = request.uri.path
    let cookies = ClassCookies(port: port)
    let here = addresses.preferring(authority: request.head.authority ?? "")
    if path == "/teacher" || path.hasPrefix("/teacher/") {
      let routes = TeacherRoutes(
        lesson: lesson, secret: secret, cookies: cookies, addresses: here, responses: responses)
      return await routes.response(to: request)
    }
    if path == "/code" {
      return responses.page(JoinPages.code(here.join, others: here.others))
    }
    if let file = files.response(to: path) { return file }
    return await PupilRoutes(lesson: lesson, cookies: cookies, responses: responses)
      .response(to: request)
  }
}

extension Request {
  /// The fields of a form; `nil` if it is too large.
  func form() async -> [String: String]? {
    guard let body = try? await body.collect(upTo: ClassLimit.bodyBytesMax) else { return nil }
    let pairs = String(buffer: body).split(separator: "&").compactMap { pair -> (String, String)? in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { return nil }
      let value = parts[1].replacingOccurrences(of: "+", with: " ")
      return value.removingPercentEncoding.map { (String(parts[0]), $0) }
    }
    return Dictionary(pairs) { $1 }
  }
}

/// The streams of events of pages.
enum ClassEvents {
  /// A stream for `reader`. It ends with the page, with the server, or when newer pages need it.
  static func response(
    _ request: Request, for reader: LessonFeed.Reader, of lesson: Lesson
  ) -> Response {
    Response(
      status: .ok,
      headers: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store"],
      body: ResponseBody { writer in
        let events = lesson.feed.subscribe(reader) {
          Task { await lesson.noteConnections() }
        }
        await lesson.noteConnections()
        // A page that has been closed must free its stream at once, not at the next heartbeat.
        try? await request.body.consumeWithCancellationOnInboundClose { _ in
          for await event in events {
            let text = event == .changed ? "event: change\ndata: {}\n\n" : ":\n\n"
            try await writer.write(ByteBuffer(string: text))
          }
        }
        try await writer.finish(nil)
      })
  }
}
