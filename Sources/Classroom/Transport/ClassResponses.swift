// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore
import WebPages

/// The responses of the class in a browser's language, and their headers.
struct ClassResponses: Sendable {
  let language: ClassLanguage

  init(to request: Request) {
    language = ClassLanguage(accepted: request.headers[.acceptLanguage])
  }

  func page(_ html: HTML, status: HTTPResponse.Status = .ok) -> Response {
    .unstored(html.text(in: language).utf8, type: .html, status: status)
  }

  func refusal(
    _ status: HTTPResponse.Status, _ title: ClassText, _ text: ClassText, more: HTML = .none
  ) -> Response {
    page(PageLayout.message(title, text, more: more), status: status)
  }

  /// The page for a command that the lesson has refused.
  func refusal(_ refusal: LessonRefusal) -> Response {
    let text = TeacherPage.text(of: refusal)
    return page(
      PageLayout.document(
        ClassText.otherSiteTitle.with(),
        content: """
          <h1>\(ClassText.otherSiteTitle)</h1><p role="alert">\(text)</p>
          <p><a href="/">\(ClassText.backHome)</a></p>
          """), status: .conflict)
  }

  var notFound: Response { refusal(.notFound, .notFoundTitle, .notFoundText) }

  private static let policy = ContentPolicy(
    [.scripts, .styles, .connections], images: .inline, sendsForms: true)

  /// Adds the headers of every response. They keep other sites from reading, framing or changing it.
  static func addCommonHeaders(to response: inout Response) {
    response.headers[.contentSecurityPolicy] = policy.header
    // Not `no-referrer`: browsers would then hide the origin of forms as well.
    response.isolate(referrerPolicy: "same-origin")
  }
}
