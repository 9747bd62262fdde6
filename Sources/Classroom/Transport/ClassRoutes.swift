// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import WebPages

/// Answers all requests of the class: checks first, then pages, commands and events.
struct ClassRoutes: RouterMiddleware {
  typealias Context = QuietContext

  let lesson: Lesson
  let files: InstalledFiles
  let secret: WebSecret
  /// The names of this machine.
  let hosts: [String]
  private let bodies = RequestBodies()

  init(lesson: Lesson, files: InstalledFiles, secret: WebSecret, hosts: [String]) {
    self.lesson = lesson
    self.files = files
    self.secret = secret
    self.hosts = hosts
  }

  @concurrent func handle(
    _ request: Request, context: QuietContext,
    next: @concurrent (Request, QuietContext) async throws -> Response
  ) async throws -> Response {
    var response = await response(to: request, context, port: context.serverPort ?? 0)
    ClassResponses.addCommonHeaders(to: &response)
    return request.method == .head ? response.createHeadResponse() : response
  }

  private func response(
    to unread: Request, _ context: QuietContext, port: Int
  ) async -> Response {
    let addresses = ClassAddresses(hosts: hosts, port: port)
    let responses = ClassResponses(to: unread)
    switch ClassGate(addresses: addresses).refusal(of: unread) {
    case .otherHost:
      let items = addresses.all.map { address -> HTML in
        "<li><a href=\"\(address)\">\(address)</a></li>"
      }
      return responses.refusal(
        .misdirectedRequest, .wrongHostTitle, .wrongHostText, more: "<ul>\(items)</ul>")
    case .otherSite: return responses.refusal(.forbidden, .otherSiteTitle, .otherSiteText)
    case nil: break
    }
    let limit = BodyLimit(bytesMax: ClassLimit.bodyBytesMax)
    let request: Request
    do throws(QuietRefusal) {
      request = try await bodies.received(unread, in: context, limit: limit)
    } catch {
      guard case .bodyTooLarge = error else { return Response(status: error.status) }
      return responses.refusal(.contentTooLarge, .tooLargeTitle, .tooLargeText)
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
    if let file = files.response(to: path, cacheControl: "no-cache") { return file }
    return await PupilRoutes(lesson: lesson, cookies: cookies, responses: responses)
      .response(to: request)
  }
}

/// The pages and commands of pupils. A phone belongs to the browser that has its session.
struct PupilRoutes: Sendable {
  let lesson: Lesson
  let cookies: ClassCookies
  let responses: ClassResponses

  func response(to request: Request) async -> Response {
    let session = cookies.session(of: request)
    var number: Int?
    if let session { number = await lesson.number(of: session) }
    switch (request.method, request.uri.path) {
    case (.get, "/"), (.head, "/"):
      // The same browser gets the same phone back.
      if number != nil { return Response.redirection(to: "/phone") }
      return await lesson.hasSeats ? responses.page(JoinPages.join) : full(.ok)
    case (.post, "/join"):
      return number == nil ? await join() : Response.redirection(to: "/phone")
    case (.get, "/phone"), (.head, "/phone"):
      guard let number else { return withoutPhone(hadSession: session != nil) }
      let state = await lesson.state
      guard let phone = state.phones.first(where: { $0.number == number }) else {
        return withoutPhone(hadSession: true)
      }
      return responses.page(PhonePage.page(phone, in: state))
    case (.get, "/phone/events"):
      guard let number else { return withoutPhone(hadSession: true) }
      return ClassEvents.response(request, for: .phone(number), of: lesson)
    case (.post, let path) where path.hasPrefix("/phone/"):
      guard let number else { return withoutPhone(hadSession: true) }
      return await command(String(path.dropFirst("/phone/".count)), request, number: number)
    default: return responses.notFound
    }
  }

  private func join() async -> Response {
    do {
      let (token, _) = try await lesson.join()
      return Response.redirection(to: "/phone", setting: cookies.pupil(token))
    } catch LessonRefusal.classIsFull {
      return full(.conflict)
    } catch {
      return responses.refusal(LessonRefusal(error))
    }
  }

  private func full(_ status: HTTPResponse.Status) -> Response {
    responses.page(JoinPages.full(lesson.phonesMax), status: status)
  }

  /// The page for a browser that has no phone.
  private func withoutPhone(hadSession: Bool) -> Response {
    hadSession
      ? responses.page(JoinPages.ended, status: .forbidden)
      : Response.redirection(to: "/")
  }

  private func command(_ name: String, _ request: Request, number: Int) async -> Response {
    guard let form = await request.form() else {
      return responses.refusal(.contentTooLarge, .tooLargeTitle, .tooLargeText)
    }
    do {
      switch name {
      case "pin":
        let pin = form["pin", default: ""].filter { !$0.isWhitespace && $0 != "-" }
        _ = try await lesson.enterPIN(pin, on: number)
      case "power": try await lesson.setPower(of: number, on: form["on"] == "yes")
      case "check": try await lesson.check(number)
      case "leave":
        try await lesson.leave(number)
        return Response.redirection(to: "/", setting: cookies.noPupil)
      default: return responses.notFound
      }
      return Response.redirection(to: "/phone")
    } catch {
      return responses.refusal(LessonRefusal(error))
    }
  }
}

/// The pages and commands of the teacher, for browsers that have opened the printed address.
struct TeacherRoutes: Sendable {
  let lesson: Lesson
  let secret: WebSecret
  let addresses: ClassAddresses
  let responses: ClassResponses

  private static let home = "/teacher"

  func response(to request: Request) async -> Response {
    let path = request.uri.path
    if request.method == .get, path == Self.home,
      let typed = request.uri.queryParameters["secret"], secret.matches(String(typed))
    {
      // The next page's address has no secret: it may be on a projector.
      return Response.redirection(to: Self.home, setting: secret.cookie(port: addresses.port))
    }
    guard secret.isIn(cookies: request.headers[.cookie], port: addresses.port) else {
      return responses.refusal(.forbidden, .noTeacherTitle, .noTeacherText)
    }
    switch (request.method, path) {
    case (.get, Self.home), (.head, Self.home):
      return responses.page(
        TeacherPage.page(await lesson.state, address: addresses.join))
    case (.get, "/teacher/sheet"):
      return responses.page(PrintPage.page(await lesson.state))
    case (.get, "/teacher/events"):
      return ClassEvents.response(request, for: .teacher, of: lesson)
    case (.post, _): return await command(path, request)
    default: return responses.notFound
    }
  }

  /// The number of a phone; 0, which no phone has, if there is none.
  private func number(in form: [String: String]) -> Int { Int(form["phone", default: ""]) ?? 0 }

  private func command(_ path: String, _ request: Request) async -> Response {
    guard let form = await request.form() else {
      return responses.refusal(.contentTooLarge, .tooLargeTitle, .tooLargeText)
    }
    do {
      switch path {
      case "/teacher/hour": await lesson.startHour()
      case "/teacher/morning": await lesson.startUntilMorning()
      case "/teacher/clock": await lesson.setAutomatic(form["on"] == "yes")
      case "/teacher/infect": try await lesson.infectOne()
      case "/teacher/test": try await lesson.test(number(in: form))
      case "/teacher/free": try await lesson.free(number(in: form))
      default: return responses.notFound
      }
    } catch {
      // The teacher's page shows the refusal.
    }
    return Response.redirection(to: Self.home)
  }
}

extension Request {
  /// The fields of a form, none if it is malformed; `nil` if it is too large.
  func form() async -> [String: String]? {
    guard let body = await body(atMost: ClassLimit.bodyBytesMax) else { return nil }
    // The route rejects a form without its fields.
    let pairs = (try? URLEncodedForm.fields(body)) ?? []
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
