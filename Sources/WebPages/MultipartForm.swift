// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads `multipart/form-data` (RFC 7578), the type of forms with a file.
package enum MultipartForm {
  /// The names and values, in their order.
  package static func fields(
    _ body: Data, contentType: String, fieldsMax: Int
  ) throws(MalformedForm) -> [(String, FormValue)] {
    guard let boundary = parameter("boundary", of: contentType), !boundary.isEmpty else {
      throw MalformedForm()
    }
    let separator = Data("\r\n--\(boundary)".utf8)
    // The first boundary has no line break before it.
    var rest = Data("\r\n".utf8) + body
    guard let first = rest.range(of: separator), first.lowerBound == rest.startIndex else {
      throw MalformedForm()
    }
    var fields: [(String, FormValue)] = []
    rest = rest[first.upperBound...]
    while !rest.starts(with: Data("--".utf8)) {
      guard fields.count < fieldsMax, rest.starts(with: Data("\r\n".utf8)),
        let next = rest.range(of: separator)
      else { throw MalformedForm() }
      let start = rest.startIndex + 2
      // The separator begins with a line break, which may be the one that was just read.
      guard start <= next.lowerBound else { throw MalformedForm() }
      fields.append(try field(rest[start..<next.lowerBound]))
      rest = rest[next.upperBound...]
    }
    return fields
  }

  /// One part: headers, an empty line, the value.
  private static func field(_ part: Data) throws(MalformedForm) -> (String, FormValue) {
    guard let end = part.range(of: Data("\r\n\r\n".utf8)),
      let headers = String(validating: part[..<end.lowerBound], as: UTF8.self)
    else { throw MalformedForm() }
    // CR LF is one character.
    let disposition = headers.split(whereSeparator: \.isNewline).first {
      $0.lowercased().hasPrefix("content-disposition:")
    }
    guard let disposition, let name = parameter("name", of: String(disposition)) else {
      throw MalformedForm()
    }
    guard parameter("filename", of: String(disposition)) == nil else {
      return (name, .file(Data(part[end.upperBound...])))
    }
    guard let value = String(validating: part[end.upperBound...], as: UTF8.self) else {
      throw MalformedForm()
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

/// The value of a field of a form.
package enum FormValue: Hashable, Sendable {
  case text(String)
  /// The content of a file, which may have any encoding.
  case file(Data)
}
