import Foundation

/// How records lie in a segment: a header, then a box; inside the box each record with its length.
///
/// The header says the box's length twice, the second time with every bit turned, so that a damaged
/// length is seen to be one and costs its own frame only. See Documentation/SealedStorage.md 3.
enum Frame {
  static let headerBytes = 8
  private static let lengthBytes = 4

  /// A whole frame around `box`.
  static func around(_ box: Data) -> Data {
    length(box.count) + length(~UInt32(box.count)) + box
  }

  /// The records, each with its length before it.
  static func content(of records: [Data]) -> Data {
    records.reduce(into: Data()) { $0 += length($1.count) + $1 }
  }

  /// How many bytes `content(of:)` takes.
  static func contentBytes(of records: [Data]) -> Int {
    records.reduce(0) { $0 + lengthBytes + $1.count }
  }

  /// Nil where the lengths do not add up.
  static func records(in content: Data) -> [Data]? {
    var records: [Data] = []
    var place = 0
    while place < content.count {
      guard place + lengthBytes <= content.count else { return nil }
      let end = place + lengthBytes + Int(number(in: content, at: place))
      guard end <= content.count else { return nil }
      records.append(content.subdata(in: place + lengthBytes..<end))
      place = end
    }
    return records
  }

  /// The length of the box whose header stands at `place`; nil where no header does.
  static func boxLength(in segment: Data, at place: Int) -> Int? {
    guard place + headerBytes <= segment.count else { return nil }
    let length = number(in: segment, at: place)
    guard length == ~number(in: segment, at: place + lengthBytes),
      length <= SealedLog.frameBytesMax
    else { return nil }
    return Int(length)
  }

  private static func length(_ count: Int) -> Data { length(UInt32(count)) }

  private static func length(_ count: UInt32) -> Data {
    withUnsafeBytes(of: count.littleEndian) { Data($0) }
  }

  private static func number(in bytes: Data, at place: Int) -> UInt32 {
    bytes.subdata(in: place..<place + lengthBytes).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
