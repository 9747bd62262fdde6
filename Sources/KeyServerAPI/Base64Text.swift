import ExposureKeys
import UploadToken

/// Base64 as senders of `/v1/publish` write it: either alphabet of RFC 4648, padded or not.
public enum Base64Text {
  /// The bytes of `text`; nil where it is neither.
  public static func bytes(_ text: String) -> [UInt8]? {
    withDigits(of: text, Base64Digits.ofEither.bytes)
  }

  /// The bytes of `text`, which are a key's; nil where it is neither, or says more or fewer.
  package static func sixteenBytes(_ text: String) -> SixteenBytes? {
    var words: (UInt64, UInt64) = (0, 0)
    let isRead = withUnsafeMutableBytes(of: &words) { bytes in
      withDigits(of: text) { Base64Digits.ofEither.read($0, into: bytes) ? true : nil }
    }
    return isRead.map { _ in SixteenBytes(words: words) }
  }

  /// What `read` makes of the digits, which stand before the padding.
  private static func withDigits<Value>(
    of text: String, _ read: (UnsafeBufferPointer<UInt8>) -> Value?
  ) -> Value? {
    var text = text
    return text.withUTF8 { text in
      let digits = UnsafeBufferPointer(rebasing: text.prefix { $0 != UInt8(ascii: "=") })
      let padding = text[digits.count...]
      // Padding fills up to a whole group of four or is left out.
      guard padding.isEmpty || (padding.count <= 2 && text.count % 4 == 0),
        padding.allSatisfy({ $0 == UInt8(ascii: "=") })
      else { return nil }
      return read(digits)
    }
  }
}
