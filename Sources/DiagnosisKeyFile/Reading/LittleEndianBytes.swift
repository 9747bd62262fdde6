// SPDX-License-Identifier: Apache-2.0
/// Bytes with numbers in little-endian order.
struct LittleEndianBytes {
  let bytes: UnsafeRawBufferPointer

  var count: Int { bytes.count }

  /// The number of `byteCount` bytes at `place`; nil if the bytes end before, or if it is too large for an `Int`.
  func number(at place: Int, _ byteCount: Int) -> Int? {
    guard place >= 0, place <= count - byteCount else { return nil }
    let value = bytes[place..<place + byteCount].reversed().reduce(0 as UInt64) {
      $0 << 8 | UInt64($1)
    }
    return Int(exactly: value)
  }

  /// Returns `true` if `expected` is at `place`.
  func has(_ expected: [UInt8], at place: Int) -> Bool {
    place >= 0 && place <= count - expected.count && bytes[place...].starts(with: expected)
  }
}

extension [UInt8] {
  /// Passes the bytes on as numbers, with a typed error.
  func withLittleEndianBytes<Result>(
    _ body: (LittleEndianBytes) throws(KeyFileError) -> Result
  ) throws(KeyFileError) -> Result {
    try withRawBytes { bytes throws(KeyFileError) in try body(LittleEndianBytes(bytes: bytes)) }
  }
}
