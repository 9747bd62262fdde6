import Foundation
import Hummingbird
import NIOCore
import QuietHTTP

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
      return ClassResponses.redirection(to: Self.home, setting: secret.cookie(port: addresses.port))
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
    return ClassResponses.redirection(to: Self.home)
  }
}
