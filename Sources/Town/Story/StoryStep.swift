import Foundation

/// One step of a story: what was tried, and whether it held.
public struct StoryStep: Sendable {
  /// A short name that programs can compare, such as `upload`.
  public let name: String
  /// When it happened on the town's clock.
  public let time: Date
  /// What happened, in one sentence for a person.
  public let sentence: String
  /// What was measured or checked, a line each.
  public let facts: [String]
  /// Whether it held.
  public let ok: Bool
  /// How long it took on the machine's clock.
  public let milliseconds: Int

  /// Such as `Day 2 09:15`, in UTC.
  public var stamp: String { StoryClock.stamp(time) }
}
