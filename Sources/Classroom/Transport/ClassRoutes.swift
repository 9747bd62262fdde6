import Foundation
import Hummingbird
import NIOCore
import QuietHTTP

/// Answers all requests of the class: checks first, then pages, commands and events.
struct ClassRoutes: RouterMiddleware {
  typealias Context = QuietContext

  let lesson: Lesson
  let files: ClassFiles
  let secret: WebSecret
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
        lesson: lesson, secret: secret, addresses: here, responses: responses)
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
  /// The fields of a form, none if it is malformed; `nil` if it is too large.
  func form() async -> [String: String]? {
    guard let body = try? await body.collect(upTo: ClassLimit.bodyBytesMax) else { return nil }
    let pairs = (try? URLEncodedForm.fields(Data(body.readableBytesView))) ?? []
    return Dictionary(pairs.map { ($0.name, $0.value) }) { $1 }
  }
}

/// The streams of events of pages.
enum ClassEvents {
  /// A stream for `reader`. It ends with the page, with the server, or when newer pages need it.
  static func response(
    _ request: Request, for reader: LessonFeed.Reader, of lesson: Lesson
  ) -> Response {
    .events(
      to: request,
      from: { () -> AsyncStream<LessonFeed.Event> in
        let events = lesson.feed.subscribe(reader) { Task { await lesson.noteConnections() } }
        await lesson.noteConnections()
        return events
      },
      text: { $0 == .changed ? "event: change\ndata: {}\n\n" : ":\n\n" })
  }
}
