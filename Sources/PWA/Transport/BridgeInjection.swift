// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Puts the script of the bridge into an HTML document, before every other script.
///
/// The element is inserted at the position at which a browser's parser enters the head: after `<head>`, or before the
/// first content that opens the head implicitly. All other bytes are unchanged.
enum BridgeInjection {
  /// The element that loads the script. It is valid HTML and XHTML.
  static let element = Data(#"<script src="/firebreak/bridge.js"></script>"#.utf8)

  /// The document with the script.
  ///
  /// - Parameters:
  ///   - element: The element that loads it.
  ///   - isFragmentKept: True to leave a fragment unchanged: a file that does not begin like a document, which a script
  ///     inserts into a page.
  static func inject(
    _ element: Data = element, into document: Data, isFragmentKept: Bool = false
  ) -> Data {
    var scanner = HTMLScanner(document)
    let place = scanner.head()
    if isFragmentKept && !scanner.isDocument { return document }
    return document.prefix(place) + element + document.dropFirst(place)
  }
}

/// Finds the head of a document by the rules of HTML's parser before the head.
private struct HTMLScanner {
  private let bytes: [UInt8]
  private var position = 0
  /// True if the document has begun like a complete one.
  private(set) var isDocument = false

  init(_ document: Data) {
    bytes = [UInt8](document)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// The position of the head's first byte.
  mutating func head() -> Int {
    while true {
      while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
      if follows("<!--") {
        skipComment()
      } else if follows("<!") {
        isDocument = isDocument || follows("<!doctype")
        skip(past: ">")
      } else if follows("<?") {
        skip(past: ">")
      } else if followsTag("html") {
        isDocument = true
        skipTag()
      } else if followsTag("head") {
        isDocument = true
        skipTag()
        return position
      } else {
        isDocument = isDocument || followsTag("body")
        return position
      }
    }
  }

  private mutating func skipComment() {
    position += 4
    // `<!-->` and `<!--->` are complete.
    for end in [">", "->"] where follows(end) {
      position += end.utf8.count
      return
    }
    while position < bytes.count {
      for end in ["-->", "--!>"] where follows(end) {
        position += end.utf8.count
        return
      }
      position += 1
    }
  }

  private mutating func skip(past end: Unicode.Scalar) {
    while position < bytes.count, bytes[position] != UInt8(ascii: end) { position += 1 }
    position = min(position + 1, bytes.count)
  }

  /// Skips a tag whose attributes may contain `>` in quotation marks.
  private mutating func skipTag() {
    var quote: UInt8?
    // A quotation mark begins a value after an equals sign only.
    var isAfterEquals = false
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: ">") {
        return
      } else if isAfterEquals, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      }
      if !Self.isSpace(byte) { isAfterEquals = quote == nil && byte == UInt8(ascii: "=") }
    }
  }

  /// True if `text`, which is in lower case, is next.
  private func follows(_ text: String) -> Bool {
    bytes[position...].prefix(text.utf8.count).elementsEqual(text.utf8) {
      ($0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0) == $1
    }
  }

  private func followsTag(_ name: String) -> Bool {
    let end = position + 1 + name.utf8.count
    guard follows("<" + name), end < bytes.count else { return false }
    return Self.isSpace(bytes[end]) || bytes[end] == UInt8(ascii: ">")
      || bytes[end] == UInt8(ascii: "/")
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(byte)
  }
}
