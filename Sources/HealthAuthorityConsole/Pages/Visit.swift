import Foundation
import Hummingbird
import QuietHTTP

/// A request to a page, with its language and session.
struct Visit: Sendable {
  let request: Request
  let context: QuietContext
  let language: ConsoleLanguage
  let session: Session?
  /// The origin of the console as its pages see it.
  let origin: String

  var texts: Texts { .of(language) }

  /// The account that is signed in.
  ///
  /// - Throws: `PageRefusal.sessionEnded` if none is.
  var account: Account {
    get throws(PageRefusal) {
      guard let session else { throw .sessionEnded }
      return session.account
    }
  }

  /// A query parameter of the address.
  func query(_ name: String) -> String? {
    request.uri.queryParameters[Substring(name)].map(String.init)
  }

  /// A parameter in the path, such as `:id`.
  func parameter(_ name: String) -> String { context.parameters.get(name) ?? "" }

  /// A time in UTC, such as `2027-01-15 08:15`.
  func time(_ unixSecond: Int64) -> String {
    Self.text(Date(unixSecond: unixSecond), hasTime: true)
  }

  func time(_ date: Date) -> String { Self.text(date, hasTime: true) }

  /// A day in UTC, such as `2027-01-15`.
  func day(_ unixSecond: Int64) -> String {
    Self.text(Date(unixSecond: unixSecond), hasTime: false)
  }

  private static func text(_ date: Date, hasTime: Bool) -> String {
    let text = date.formatted(.iso8601)
    return String(text.prefix(hasTime ? 16 : 10)).replacing("T", with: " ")
  }
}

/// A page: its title, its template and the values in it.
struct Page {
  let title: String
  let template: PageTemplate
  var values: [String: Any] = [:]
  var status = HTTPResponse.Status.ok

  init(
    _ title: String, _ template: PageTemplate, _ values: [String: Any] = [:],
    status: HTTPResponse.Status = .ok
  ) {
    self.title = title
    self.template = template
    self.values = values
    self.status = status
  }
}
