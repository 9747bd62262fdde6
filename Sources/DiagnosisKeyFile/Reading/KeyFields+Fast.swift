/// The common form of a key, read without asking at every byte whether there is another.
extension KeyFields {
  /// Tag, length, and the longest common message: six numbers of at most six bytes and the key.
  static let fastByteCountMax = 2 + 2 + 16 + 6 * 6
  /// How many bytes past a message its last number may be looked for.
  static let fastSlack = 8

  /// Reads the message at `message` of `byteCount` bytes, at least 18, after which `fastSlack` more
  /// bytes may be touched; nil where it is of another than the common form, right or wrong:
  /// `init(_:)` then decides.
  ///
  /// Common: sixteen bytes of key first, then the numbers of the other fields in at most five bytes each.
  @inline(__always)
  init?(common message: UnsafeRawPointer, byteCount: Int) {
    guard message.loadUnaligned(as: UInt16.self) == Self.sixteenBytesOfKey else { return nil }
    self.init()
    keyData = UnsafeRawBufferPointer(start: message + 2, count: 16)
    var place = message + 18
    let end = message + byteCount
    while place < end {
      let tag = place.load(as: UInt8.self)
      place += 1
      guard let number = Self.number(&place) else { return nil }
      switch tag {
      case 2 << 3: transmissionRiskLevel = number
      case 3 << 3: rollingStart = number
      case 4 << 3: rollingPeriod = number
      case 5 << 3: setReportType(number)
      case 6 << 3: setDays(Int32(bitPattern: UInt32(bitPattern: number) >> 1) ^ -(number & 1))
      case 8 << 3: setVariant(number)
      default: return nil
      }
    }
    guard place == end else { return nil }
  }

  /// Field 1, length-delimited, sixteen bytes, as two bytes of memory.
  private static var sixteenBytesOfKey: UInt16 { UInt16(littleEndian: 0x100a) }

  /// A number of at most five bytes; nil for a longer one, such as a negative.
  @inline(__always)
  private static func number(_ place: inout UnsafeRawPointer) -> Int32? {
    var value: UInt32 = 0
    for shift in stride(from: UInt32(0), through: 28, by: 7) {
      let byte = place.load(as: UInt8.self)
      place += 1
      value |= UInt32(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return Int32(bitPattern: value) }
    }
    return nil
  }
}
