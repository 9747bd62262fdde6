import Foundation

/// The positions of the frames in a segment.
struct SegmentLayout {
  /// The box of each frame with the offset of the frame, in order.
  private(set) var boxes: [(offset: Int, box: Data)] = []
  /// The number of ranges in which no frame was found.
  private(set) var unrecognizedRangeCount = 0
  /// The offset of the last frame, if it is incomplete.
  private(set) var incompleteFrame: Int?

  init(of segment: Data) {
    var offset = 0
    while offset < segment.count {
      guard let length = Frame.boxLength(in: segment, at: offset) else {
        guard let next = Self.nextHeader(in: segment, after: offset) else {
          classifyEnd(of: segment, from: offset)
          return
        }
        unrecognizedRangeCount += 1
        offset = next
        continue
      }
      let end = offset + Frame.headerBytes + length
      guard end <= segment.count else {
        incompleteFrame = offset
        return
      }
      boxes.append((offset, segment.subdata(in: offset + Frame.headerBytes..<end)))
      offset = end
    }
  }

  /// Remaining bytes that are shorter than a header are an incomplete frame; more are an unrecognized range.
  private mutating func classifyEnd(of segment: Data, from offset: Int) {
    if segment.count - offset < Frame.headerBytes {
      incompleteFrame = offset
    } else {
      unrecognizedRangeCount += 1
    }
  }

  /// The offset of the next header after `offset`.
  ///
  /// The last bytes of a box and the header after it may look like a header by chance. Among overlapping
  /// candidates, the first whose frame ends at the next header is returned, or else the first whose frame fits.
  private static func nextHeader(in segment: Data, after offset: Int) -> Int? {
    let isHeader = { Frame.boxLength(in: segment, at: $0) != nil }
    guard let first = (offset..<segment.count).dropFirst().first(where: isHeader) else {
      return nil
    }
    let candidates = (first..<min(first + Frame.headerBytes, segment.count)).filter(isHeader)
    let end = { (offset: Int) in
      offset + Frame.headerBytes + (Frame.boxLength(in: segment, at: offset) ?? 0)
    }
    return candidates.first { end($0) == segment.count || isHeader(end($0)) }
      ?? candidates.first { end($0) <= segment.count } ?? first
  }
}

/// The format of records in a segment: a header, then a box, which holds each record with its length.
///
/// The header has the box's length twice, the second time with all bits inverted. So a damaged length is
/// detected and costs only its own frame. Documentation/SealedStorage.md, "The log", has the format.
enum Frame {
  static let headerBytes = 8
  private static let lengthBytes = 4

  static func around(_ box: Data) -> Data {
    length(box.count) + length(~UInt32(box.count)) + box
  }

  /// The records, each preceded by its length.
  static func content(of records: [Data]) -> Data {
    records.reduce(into: Data()) { $0 += length($1.count) + $1 }
  }

  /// The size of `content(of:)`, in bytes.
  static func contentBytes(of records: [Data]) -> Int {
    records.reduce(0) { $0 + lengthBytes + $1.count }
  }

  /// Returns nil if the lengths do not add up.
  static func records(in content: Data) -> [Data]? {
    var records: [Data] = []
    var offset = 0
    while offset < content.count {
      guard offset + lengthBytes <= content.count else { return nil }
      let end = offset + lengthBytes + Int(number(in: content, at: offset))
      guard end <= content.count else { return nil }
      records.append(content.subdata(in: offset + lengthBytes..<end))
      offset = end
    }
    return records
  }

  /// The length of the box whose header is at `offset`; nil if there is no header.
  static func boxLength(in segment: Data, at offset: Int) -> Int? {
    guard offset + headerBytes <= segment.count else { return nil }
    let length = number(in: segment, at: offset)
    guard length == ~number(in: segment, at: offset + lengthBytes),
      length <= SealedLog.frameBytesMax
    else { return nil }
    return Int(length)
  }

  private static func length(_ count: Int) -> Data { length(UInt32(count)) }

  private static func length(_ count: UInt32) -> Data {
    withUnsafeBytes(of: count.littleEndian) { Data($0) }
  }

  private static func number(in bytes: Data, at offset: Int) -> UInt32 {
    bytes.subdata(in: offset..<offset + lengthBytes).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
