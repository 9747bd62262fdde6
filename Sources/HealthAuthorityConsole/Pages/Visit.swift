// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
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

  /// A query parameter of the address.
  func query(_ name: String) -> String? {
    request.uri.queryParameters[Substring(name)].map(String.init)
  }

  /// A parameter in the path, such as `:id`.
  func parameter(_ name: String) -> String { context.parameters.get(name) ?? "" }

  /// A time in the office's zone with its abbreviation.
  func time(_ unixSecond: Int64) -> String { texts.time(unixSecond) }

  /// A time in the office's zone with its abbreviation.
  func time(_ date: Date) -> String { texts.times.text(date) }
}

/// The value of a field of a form.
enum FormValue: Hashable, Sendable {
  case text(String)
  /// The content of a file, which may have any encoding.
  case file(Data)
}

/// Reads `multipart/form-data` (RFC 7578), the type of forms with a file.
enum MultipartForm {
  /// The names and values, in their order.
  static func fields(
    _ body: Data, contentType: String, fieldsMax: Int
  ) throws(Form.Malformed) -> [(String, FormValue)] {
    guard let boundary = parameter("boundary", of: contentType), !boundary.isEmpty else {
      throw Form.Malformed()
    }
    let separator = Data("\r\n--\(boundary)".utf8)
    // The first boundary has no line break before it.
    var rest = Data("\r\n".utf8) + body
    guard let first = rest.range(of: separator), first.lowerBound == rest.startIndex else {
      throw Form.Malformed()
    }
    var fields: [(String, FormValue)] = []
    rest = rest[first.upperBound...]
    while !rest.starts(with: Data("--".utf8)) {
      guard fields.count < fieldsMax, rest.starts(with: Data("\r\n".utf8)),
        let next = rest.range(of: separator)
      else { throw Form.Malformed() }
      let start = rest.startIndex + 2
      // The separator begins with a line break, which may be the one that was just read.
      guard start <= next.lowerBound else { throw Form.Malformed() }
      fields.append(try field(rest[start..<next.lowerBound]))
      rest = rest[next.upperBound...]
    }
    return fields
  }

  /// One part: headers, an empty line, the value.
  private static func field(_ part: Data) throws(Form.Malformed) -> (String, FormValue) {
    guard let end = part.range(of: Data("\r\n\r\n".utf8)),
      let headers = String(validating: part[..<end.lowerBound], as: UTF8.self)
    else { throw Form.Malformed() }
    // CR LF is one character.
    let disposition = headers.split(whereSeparator: \.isNewline).first {
      $0.lowercased().hasPrefix("content-disposition:")
    }
    guard let disposition, let name = parameter("name", of: String(disposition)) else {
      throw Form.Malformed()
    }
    guard parameter("filename", of: String(disposition)) == nil else {
      return (name, .file(Data(part[end.upperBound...])))
    }
    guard let value = String(validating: part[end.upperBound...], as: UTF8.self) else {
      throw Form.Malformed()
    }
    return (name, .text(value))
  }

  /// The value of `; name="value"` or `; name=value`.
  private static func parameter(_ name: String, of header: String) -> String? {
    for part in header.split(separator: ";").dropFirst() {
      let pair = part.split(separator: "=", maxSplits: 1)
      guard pair.count == 2, pair[0].trimmingCharacters(in: .whitespaces).lowercased() == name
      else {
        continue
      }
      return pair[1].trimmingCharacters(in: .whitespaces.union(CharacterSet(charactersIn: "\"")))
    }
    return nil
  }
}
