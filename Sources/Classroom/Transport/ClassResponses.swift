// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore

/// The responses of the class in a browser's language, and their headers.
struct ClassResponses: Sendable {
  let language: ClassLanguage

  init(to request: Request) {
    language = ClassLanguage(accepted: request.headers[.acceptLanguage])
  }

  func page(_ html: HTML, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status,
      headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: html.text(in: language))))
  }

  static func redirection(to path: String, setting cookie: String? = nil) -> Response {
    var headers: HTTPFields = [.location: path, .cacheControl: "no-store"]
    if let cookie { headers[.setCookie] = cookie }
    return Response(status: .seeOther, headers: headers)
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
    for (name, value) in common {
      guard let name = HTTPFields.Element.Name(name) else { continue }
      response.headers[name] = value
    }
  }

  private static let common = [
    (
      "content-security-policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self';"
        + " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    ("x-content-type-options", "nosniff"), ("x-frame-options", "DENY"),
    // Not `no-referrer`: browsers would then hide the origin of forms as well.
    ("referrer-policy", "same-origin"), ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"), ("x-dns-prefetch-control", "off"),
  ]
}

/// The style sheet and the script of the pages, in memory.
struct ClassFiles: Sendable {
  private let files: [String: (content: Data, type: String)]

  /// Reads the files beside the program. `Bundle.module` would end the program if they are missing.
  ///
  /// - Throws: `ClassroomError.files`.
  init() throws(ClassroomError) {
    let folder = Bundle.main.bundleURL.appendingPathComponent(
      "firebreak_Classroom.resources/WebFiles")
    var files: [String: (content: Data, type: String)] = [:]
    let names = [
      "class.css": "text/css; charset=utf-8", "class.js": "text/javascript; charset=utf-8",
      "print.js": "text/javascript; charset=utf-8",
    ]
    for (name, type) in names {
      let file = folder.appendingPathComponent(name)
      guard let content = FileManager.default.contents(atPath: file.path) else { throw .files }
      files["/" + name] = (content, type)
    }
    self.files = files
  }

  func response(to path: String) -> Response? {
    files[path].map { file in
      Response(
        status: .ok, headers: [.contentType: file.type, .cacheControl: "no-cache"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.content)))
    }
  }
}
