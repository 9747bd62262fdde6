// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import WebPages
import World

/// A request to a page, with its language and session.
struct Visit: Sendable {
  let request: Request
  let context: QuietContext
  /// The texts of the page, in its language and with the times of the office.
  let texts: Texts
  var session: Session?
  /// The origin of the console as its pages see it.
  let origin: String

  var language: ConsoleLanguage { texts.language }

  /// The account that is signed in.
  ///
  /// - Throws: `PageRefusal.sessionEnded` if none is.
  var account: Account {
    get throws(PageRefusal) {
      guard let session else { throw .sessionEnded }
      return session.account
    }
  }

  /// The path with its query, to which a sign-in or the choice of a language returns.
  var address: String {
    let query = request.uri.query.map { "?\($0)" } ?? ""
    return request.uri.path + query
  }

  /// A query parameter of the address, as browsers send the fields of a form; nil also if the query is malformed.
  func query(_ name: String) -> String? {
    // To a page, a malformed query is the same as none.
    let fields = try? URLEncodedForm.fields(Data((request.uri.query ?? "").utf8))
    return fields?.first { $0.name == name }?.value
  }

  /// A parameter in the path, such as `:id`.
  func parameter(_ name: String) -> String { context.parameters.get(name) ?? "" }

  /// A time in the office's zone with its abbreviation.
  func time(_ unixSecond: Int64) -> String { texts.time(unixSecond) }

  /// A time in the office's zone with its abbreviation.
  func time(_ date: Date) -> String { texts.times.text(date) }
}
