/// Who appears in a story, from top to bottom of the picture.
enum StoryLane: Int, CaseIterable, Comparable {
  case far, near, diagnosed, verificationServer, keyServer

  static func < (left: StoryLane, right: StoryLane) -> Bool { left.rawValue < right.rawValue }

  var lane: Timeline.Lane {
    switch self {
    case .far: Timeline.Lane(name: "far", detail: "a phone, out of reach")
    case .near: Timeline.Lane(name: "near", detail: "a phone")
    case .diagnosed: Timeline.Lane(name: "diagnosed", detail: "a phone")
    case .verificationServer: Timeline.Lane(name: "verification", detail: "PIN to token")
    case .keyServer: Timeline.Lane(name: "keys", detail: "upload to export")
    }
  }
}
