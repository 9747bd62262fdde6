// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings
import WebPages

/// The fields of a form.
struct Form: Sendable {
  /// The text fields by their name. White space around them is removed, except for passwords.
  private let fields: [String: String]
  private let files: [String: Data]

  /// Decodes a body by its media type.
  ///
  /// - Throws: Also for duplicate fields.
  init(_ body: Data, contentType: String?, fieldsMax: Int) throws(MalformedForm) {
    let type = contentType ?? ""
    var (fields, files): ([String: String], [String: Data]) = ([:], [:])
    for (name, value) in try Self.pairs(body, type, fieldsMax) {
      guard fields[name] == nil, files[name] == nil else { throw MalformedForm() }
      switch value {
      case .text(let text): fields[name] = text
      case .file(let bytes): files[name] = bytes
      }
    }
    self.fields = fields
    self.files = files
  }

  static let urlEncodedType = "application/x-www-form-urlencoded"
  static let multipart = "multipart/form-data"

  /// The value of a field without white space around it; empty if it is missing.
  subscript(_ name: String) -> String {
    exact(name).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The value of a field as it was typed; empty if it is missing.
  func exact(_ name: String) -> String { fields[name] ?? "" }

  /// The content of a file; empty if none was chosen.
  func file(_ name: String) -> Data { files[name] ?? Data() }

  /// The bytes of a base64url field; nil if the field is not base64url.
  func bytes(_ name: String) -> Data? { Data(base64URL: self[name]) }

  private static func pairs(
    _ body: Data, _ type: String, _ fieldsMax: Int
  ) throws(MalformedForm) -> [(String, FormValue)] {
    guard !type.lowercased().hasPrefix(multipart) else {
      return try MultipartForm.fields(body, contentType: type, fieldsMax: fieldsMax)
    }
    return try URLEncodedForm.fields(body, fieldsMax: fieldsMax).map {
      ($0.name, .text($0.value))
    }
  }
}
