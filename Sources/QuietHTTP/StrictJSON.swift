import Foundation

/// Looks for what a JSON reader would pass over in silence: two fields of one name in an object, of which
/// each reader takes another one, and nesting without end. Whether it is JSON at all is the reader's to say, but it
/// must be UTF-8 without a byte order mark (RFC 8259, 8.1): readers that guess encodings would see fields here
/// that were not looked at.
public struct StrictJSON {
  /// How deep objects and arrays may lie in one another.
  public static let depthMax = 16

  private let bytes: [UInt8]
  private var position = 0

  /// Whether `json` has no field twice in one object, is not nested too deep and has nothing after it.
  public static func accepts(_ json: Data) -> Bool {
    var reader = StrictJSON(bytes: Array(json))
    guard reader.value(depth: 0) else { return false }
    reader.skipBlanks()
    return reader.next == nil
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  private mutating func value(depth: Int) -> Bool {
    skipBlanks()
    switch next {
    case UInt8(ascii: "{"): return depth < Self.depthMax && object(depth: depth + 1)
    case UInt8(ascii: "["): return depth < Self.depthMax && array(depth: depth + 1)
    case UInt8(ascii: "\""): return string() != nil
    case nil: return false
    default: return word()
    }
  }

  private mutating func object(depth: Int) -> Bool {
    position += 1
    var names: Set<String> = []
    skipBlanks()
    if take("}") { return true }
    repeat {
      skipBlanks()
      guard let name = string(), names.insert(name).inserted else { return false }
      skipBlanks()
      guard take(":"), value(depth: depth) else { return false }
      skipBlanks()
    } while take(",")
    return take("}")
  }

  private mutating func array(depth: Int) -> Bool {
    position += 1
    skipBlanks()
    if take("]") { return true }
    repeat {
      guard value(depth: depth) else { return false }
      skipBlanks()
    } while take(",")
    return take("]")
  }

  /// The string that begins here, with its escapes resolved, for `"a"` and `"\u0061"` are one name; nil where it is
  /// no text. The reader would not look at one that nobody asks it for.
  private mutating func string() -> String? {
    guard next == UInt8(ascii: "\"") else { return nil }
    let start = position
    position += 1
    while let byte = next, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { return nil }
      position += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    guard take("\"") else { return nil }
    let text = bytes[start..<position]
    guard text.contains(UInt8(ascii: "\\")) else {
      return String(validating: text.dropFirst().dropLast(), as: UTF8.self)
    }
    return try? JSONDecoder().decode(String.self, from: Data(text))
  }

  /// A number or one of the three words.
  private mutating func word() -> Bool {
    let start = position
    while let byte = next, !Self.ends.contains(byte) { position += 1 }
    return position > start
  }

  private static let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
  private static let ends = blanks.union(",:{}[]\"".utf8)

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func skipBlanks() {
    while let byte = next, Self.blanks.contains(byte) { position += 1 }
  }
}
