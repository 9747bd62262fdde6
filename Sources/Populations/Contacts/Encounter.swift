// SPDX-License-Identifier: Apache-2.0

/// Two people who stay at one distance for a while.
public struct Encounter: Hashable, Sendable {
  /// The person with the smaller number.
  public let first: Int32
  /// The person with the larger number.
  public let second: Int32
  /// The start in seconds of the day.
  public let start: Int32
  /// The end in seconds of the day, after the start.
  public let end: Int32
  /// The distance in metres.
  public let metres: Float
  /// The place.
  public let place: Place

  /// Creates an encounter of two people, who may be named in either order.
  public init(
    _ one: Int, _ other: Int, from start: Int, to end: Int, metres: Double, at place: Place
  ) {
    first = Int32(min(one, other))
    second = Int32(max(one, other))
    self.start = Int32(start)
    self.end = Int32(end)
    self.metres = Float(metres)
    self.place = place
  }

  /// The part of the encounter between two times in seconds of the day; nil if there is none.
  public func clipped(from begin: Int32, to finish: Int32) -> Encounter? {
    let (from, to) = (max(start, begin), min(end, finish))
    guard from < to else { return nil }
    return Encounter(
      Int(first), Int(second), from: Int(from), to: Int(to), metres: Double(metres), at: place)
  }
}

/// The place of an encounter.
public enum Place: UInt8, CaseIterable, Sendable {
  case home
  case school
  case work
  case leisure
  case elsewhere
  /// The place of recorded contacts is not known.
  case recorded

  /// True if people who isolate still meet here.
  public var remainsInIsolation: Bool { self == .home }
}

extension [Encounter] {
  /// By their starts; those of one time by people and ends.
  func inOrder() -> [Encounter] {
    sorted {
      ($0.start, $0.first, $0.second, $0.end) < ($1.start, $1.first, $1.second, $1.end)
    }
  }
}

/// The encounters of each day.
public protocol ContactSource: Sendable {
  /// The people who meet.
  var population: Population { get }

  /// The encounters of a day, counted from 0, in the order of their starts.
  func encounters(onDay day: Int) -> [Encounter]
}
