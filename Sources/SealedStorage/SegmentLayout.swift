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

  private static func nextHeader(in segment: Data, after place: Int) -> Int? {
    (place..<segment.count).dropFirst().first { Frame.boxLength(in: segment, at: $0) != nil }
  }
}
