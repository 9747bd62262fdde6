import Foundation

/// When what happened where: what the picture of a story is drawn from.
public struct Timeline: Sendable {
  /// Somebody something happens to: a phone or a server.
  public struct Lane: Sendable {
    let name: String
    let detail: String
  }

  /// A step, at a time, on a lane; the number is the step's.
  struct Mark: Sendable {
    let number: Int
    let lane: Int
    let time: Date
    let ok: Bool
  }

  /// Two neighbouring lanes near each other for a while.
  struct Meeting: Sendable {
    let lanes: ClosedRange<Int>
    let from: Date
    let to: Date
    let label: String
  }

  /// Something that goes from one lane to another.
  struct Passage: Sendable {
    let from: Int
    let to: Int
    let time: Date
    let label: String
  }

  let start: Date
  let end: Date
  let lanes: [Lane]
  var marks: [Mark] = []
  var meetings: [Meeting] = []
  var passages: [Passage] = []
}
