import Foundation

/// Base64 for the text of tokens and keys (RFC 4648, section 5), without padding.
enum Base64URL {
  static func text(_ bytes: Data) -> String {
    bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  /// The bytes of `text`, or nil where another text would have said the same.
  static func bytes(_ text: some Collection<UInt8>) -> Data? {
    guard text.allSatisfy(isDigit) else { return nil }
    var standard = text.map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
    guard let bytes = Data(base64Encoded: Data(standard)) else { return nil }
    return bytes.base64EncodedData().elementsEqual(standard) ? bytes : nil
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
