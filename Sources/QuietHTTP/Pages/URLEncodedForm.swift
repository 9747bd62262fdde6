import Foundation

/// The fields of a form with the media type `application/x-www-form-urlencoded`.
package enum URLEncodedForm {
  /// The body is no such form, or has too many fields.
  package struct Malformed: Error {
    package init() {}
  }

  /// Decodes a body. The fields are in its order, and a name may occur twice.
  package static func fields(
    _ body: Data, fieldsMax: Int = .max
  ) throws(Malformed) -> [(name: String, value: String)] {
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
