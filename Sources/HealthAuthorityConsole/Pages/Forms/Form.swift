import Foundation

/// The fields of a form.
struct Form: Sendable {
  /// The text fields by their name. White space around them is removed, except for passwords.
  private let fields: [String: String]

  /// The body is no form, has too many fields, or a field twice.
  struct Malformed: Error {}

  /// Decodes a body by its media type.
  init(_ body: Data, contentType: String?, fieldsMax: Int) throws(Malformed) {
    let type = contentType ?? ""
    let pairs =
      type.lowercased().hasPrefix(Self.multipart)
      ? try MultipartForm.fields(body, contentType: type, fieldsMax: fieldsMax)
      : try Self.urlEncoded(body, fieldsMax: fieldsMax)
    var fields: [String: String] = [:]
    for (name, value) in pairs {
      guard fields.updateValue(value, forKey: name) == nil else { throw Malformed() }
    }
    self.fields = fields
  }

  static let urlEncodedType = "application/x-www-form-urlencoded"
  static let multipart = "multipart/form-data"

  /// The value of a field without white space around it; empty if it is missing.
  subscript(_ name: String) -> String {
    exact(name).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The value of a field as it was typed; empty if it is missing.
  func exact(_ name: String) -> String { fields[name] ?? "" }

  /// The bytes of a field with base64url; nil if it is not such text.
  func bytes(_ name: String) -> Data? { Data(base64URL: self[name]) }

  private static func urlEncoded(
    _ body: Data, fieldsMax: Int
  ) throws(Malformed) -> [(String, String)] {
    let parts = body.split(separator: UInt8(ascii: "&"))
    guard parts.count <= fieldsMax else { throw Malformed() }
    return try parts.map { part throws(Malformed) in
      let pair = part.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = pair.first else { throw Malformed() }
      return (try decoded(name), pair.count == 2 ? try decoded(pair[1]) : "")
    }
  }

  private static func decoded(_ bytes: Data) throws(Malformed) -> String {
    var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], ArraySlice(bytes))
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): result.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
        else { throw Malformed() }
        result.append(high << 4 | low)
      default: result.append(byte)
      }
    }
    guard let text = String(validating: result, as: UTF8.self) else { throw Malformed() }
    return text
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(UnicodeScalar(byte)).hexDigitValue.map { UInt8($0) }
  }
}
