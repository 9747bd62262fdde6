import Foundation

/// Where the frames of one segment's bytes lie.
struct SegmentLayout {
  /// The box of each frame and where its frame begins, in order.
  private(set) var boxes: [(place: Int, box: Data)] = []
  /// How often bytes stood where a frame should begin, and were none.
  private(set) var strangeStretches = 0
  /// Where the last frame begins, if it was never finished.
  private(set) var unfinished: Int?

  init(of segment: Data) {
    var place = 0
    while place < segment.count {
      guard let length = Frame.boxLength(in: segment, at: place) else {
        guard let next = Self.nextHeader(in: segment, after: place) else {
          noteEnd(of: segment, from: place)
          return
        }
        strangeStretches += 1
        place = next
        continue
      }
      let end = place + Frame.headerBytes + length
      guard end <= segment.count else {
        unfinished = place
        return
      }
      boxes.append((place, segment.subdata(in: place + Frame.headerBytes..<end)))
      place = end
    }
  }

  /// A stump shorter than a header is a frame that was only begun; more than that is strange.
  private mutating func noteEnd(of segment: Data, from place: Int) {
    if segment.count - place < Frame.headerBytes {
      unfinished = place
    } else {
      strangeStretches += 1
    }
  }

  /// Where the next header stands after `place`.
  ///
  /// The last byte of a box and the header behind it may by chance look like a header as well, so of
  /// those that overlap the one counts whose frame ends where the next begins; else one that fits.
  private static func nextHeader(in segment: Data, after place: Int) -> Int? {
    let isHeader = { Frame.boxLength(in: segment, at: $0) != nil }
    guard let first = (place..<segment.count).dropFirst().first(where: isHeader) else { return nil }
    let candidates = (first..<min(first + Frame.headerBytes, segment.count)).filter(isHeader)
    let end = { (place: Int) in
      place + Frame.headerBytes + (Frame.boxLength(in: segment, at: place) ?? 0)
    }
    return candidates.first { end($0) == segment.count || isHeader(end($0)) }
      ?? candidates.first { end($0) <= segment.count } ?? first
  }
}

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
