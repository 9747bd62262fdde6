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
