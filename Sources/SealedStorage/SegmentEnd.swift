/// Where the next frame of a segment goes.
struct SegmentEnd: Sendable {
  let frames: Int
  let bytes: Int
}
