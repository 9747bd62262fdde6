import Foundation

/// How records lie in a log: frames of boxes outside, length and record inside.
enum Frame {
  private static let lengthBytes = 4

  static func length(_ count: Int) -> Data {
    withUnsafeBytes(of: UInt32(count).littleEndian) { Data($0) }
  }

  /// The records, each with its length before it.
  static func content(of records: [Data]) -> Data {
    records.reduce(into: Data()) { $0 += length($1.count) + $1 }
  }

  /// Nil where the lengths do not add up.
  static func records(in content: Data) -> [Data]? {
    let (records, read) = pieces(of: content)
    return read == content.count ? records : nil
  }

  /// The whole boxes of a segment, and how many bytes they take; the rest was never finished.
  static func boxes(in segment: Data) -> (boxes: [Data], bytesRead: Int) {
    let (boxes, read) = pieces(of: segment)
    return (boxes, read)
  }

  private static func pieces(of bytes: Data) -> (pieces: [Data], bytesRead: Int) {
    var pieces: [Data] = []
    var rest = bytes[...]
    while rest.count >= lengthBytes {
      let length = rest.prefix(lengthBytes).reversed().reduce(0) { $0 << 8 | Int($1) }
      guard length <= SealedLog.frameBytesMax, rest.count >= lengthBytes + length else { break }
      pieces.append(Data(rest.dropFirst(lengthBytes).prefix(length)))
      rest = rest.dropFirst(lengthBytes + length)
    }
    return (pieces, bytes.count - rest.count)
  }
}
