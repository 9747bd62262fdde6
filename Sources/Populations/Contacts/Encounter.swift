// SPDX-License-Identifier: Apache-2.0

/// Two people who stay at one distance for a while.
public struct Encounter: Hashable, Sendable {
  /// One person.
  public let first: Int32
  /// The other person.
  public let second: Int32
  /// The start in seconds of the day.
  public let start: Int32
  /// The end in seconds of the day, after the start.
  public let end: Int32
  /// The distance in metres.
  public let metres: Float
  /// The place.
  public let place: Place

  /// Creates an encounter.
  public init(
    _ first: Int, _ second: Int, from start: Int, to end: Int, metres: Double, at place: Place
  ) {
    self.first = Int32(first)
    self.second = Int32(second)
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

/// The encounters of each day.
public protocol ContactSource: Sendable {
  /// The people who meet.
  var population: Population { get }

  /// The encounters of a day, counted from 0, in the order of their starts.
  func encounters(onDay day: Int) -> [Encounter]
}
