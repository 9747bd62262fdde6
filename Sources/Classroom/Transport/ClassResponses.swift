// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore
import QuietHTTP

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

  /// Adds the headers of every response. They keep other sites from reading, framing or changing it.
  static func addCommonHeaders(to response: inout Response) {
    response.headers[.contentSecurityPolicy] =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self';"
      + " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    // Not `no-referrer`: browsers would then hide the origin of forms as well.
    response.isolate(referrerPolicy: "same-origin")
  }
}

/// The style sheet and the script of the pages, in memory.
struct ClassFiles: Sendable {
  private let files: [String: (content: Data, type: ContentType)]

  /// Reads the files beside the program. `Bundle.module` would end the program if they are missing.
  ///
  /// - Throws: `ClassroomError.files`.
  init() throws(ClassroomError) {
    let folder = Bundle.main.bundleURL.appendingPathComponent(
      "firebreak_Classroom.resources/WebFiles")
    var files: [String: (content: Data, type: ContentType)] = [:]
    for name in ["class.css", "class.js", "print.js"] {
      let file = folder.appendingPathComponent(name)
      guard let content = FileManager.default.contents(atPath: file.path) else { throw .files }
      files["/" + name] = (content, ContentType(fileName: name))
    }
    self.files = files
  }

  func response(to path: String) -> Response? {
    files[path].map { file in
      Response(
        status: .ok, headers: [.contentType: file.type.header, .cacheControl: "no-cache"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.content)))
    }
  }
}
