import Foundation
import Hummingbird
import NIOCore

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
      if number != nil { return ClassResponses.redirection(to: "/phone") }
      return await lesson.hasSeats ? responses.page(JoinPages.join) : full(.ok)
    case (.post, "/join"):
      return number == nil ? await join() : ClassResponses.redirection(to: "/phone")
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
      return ClassResponses.redirection(to: "/phone", setting: cookies.pupil(token))
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
      : ClassResponses.redirection(to: "/")
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
        return ClassResponses.redirection(to: "/", setting: cookies.noPupil)
      default: return responses.notFound
      }
      return ClassResponses.redirection(to: "/phone")
    } catch {
      return responses.refusal(LessonRefusal(error))
    }
  }
}
