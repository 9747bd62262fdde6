import UploadToken

/// Base64 as senders of `/v1/publish` write it: either alphabet of RFC 4648, padded or not.
public enum Base64Text {
  /// The bytes of `text`; nil where it is neither.
  public static func bytes(_ text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8 { text in
      let digits = UnsafeBufferPointer(rebasing: text.prefix { $0 != UInt8(ascii: "=") })
      let padding = text[digits.count...]
      // Padding fills up to a whole group of four or is left out.
      guard padding.isEmpty || (padding.count <= 2 && text.count % 4 == 0),
        padding.allSatisfy({ $0 == UInt8(ascii: "=") })
      else { return nil }
      return Base64Digits.ofEither.bytes(digits)
    }
  }
}
