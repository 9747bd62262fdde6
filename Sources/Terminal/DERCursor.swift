// SPDX-License-Identifier: Apache-2.0
/// Reads DER values in memory one after another (X.690).
struct DERCursor {
  /// The types of values that keys have.
  enum Tag: UInt8 {
    case integer = 0x02
    case bitString = 0x03
    case octetString = 0x04
    case objectIdentifier = 0x06
    case sequence = 0x30
    case context0 = 0xa0
    case context1 = 0xa1
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }
  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The type of the next value; nil at the end, and for a type that keys do not have.
  var tag: Tag? { rest.first.flatMap(Tag.init) }

  /// Returns the content of the next value, which must have the type `tag`.
  mutating func take(_ tag: Tag) throws(KeyFault) -> ArraySlice<UInt8> {
    guard self.tag == tag, let count = Self.length(rest.dropFirst()),
      count.length <= rest.count - 1 - count.byteCount
    else { throw KeyFault("its DER is damaged", "copy it again") }
    let content = rest.dropFirst(1 + count.byteCount).prefix(count.length)
    rest = rest[content.endIndex...]
    return content
  }

  /// The length at the start of `bytes`, and the number of bytes that it takes.
  private static func length(_ bytes: ArraySlice<UInt8>) -> (length: Int, byteCount: Int)? {
    guard let first = bytes.first else { return nil }
    guard first >= 0x80 else { return (Int(first), 1) }
    // Three bytes are enough for the largest file.
    let digits = bytes.dropFirst().prefix(Int(first & 0x7f))
    guard 1...3 ~= first & 0x7f, digits.count == Int(first & 0x7f) else { return nil }
    return (digits.reduce(0) { $0 << 8 | Int($1) }, 1 + digits.count)
  }
}
