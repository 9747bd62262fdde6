import Foundation

/// The result of the demo.
public struct DemoResult: Sendable {
  /// The result of one phone.
  public struct Phone: Sendable {
    /// `near`, `far` or `diagnosed`.
    public let name: String
    /// The app's risk level: 0 none, 1 low, 2 medium, 3 high.
    public let riskLevel: Int
    /// The number of risk notices shown.
    public let notices: Int
  }

  /// The steps in order; the demo ends with the first that fails.
  public let steps: [DemoStep]
  /// The phones, or none if the demo ended early.
  public let phones: [Phone]
  /// The identifiers of others that each party has, or none if the demo ended early.
  public let knowledge: [IdentifierCounts]
  /// The events for the picture of the report.
  public let timeline: Timeline

  /// True if every step succeeded.
  public var ok: Bool { !steps.isEmpty && steps.allSatisfy(\.ok) }

  /// The result in one line.
  public var verdict: String {
    ok ? "Near received a notice, Far did not." : "A step of the demo failed."
  }
}

/// One step of the demo.
public struct DemoStep: Sendable {
  /// A stable name for programs, such as `upload`.
  public let name: String
  /// The simulated time.
  public let time: Date
  /// A sentence about the step.
  public let sentence: String
  /// Measured values and checks, one per line.
  public let facts: [String]
  /// True if the step succeeded.
  public let ok: Bool
  /// The duration in real time.
  public let milliseconds: Int

  /// The simulated time as text, such as `Day 2 09:15`, in UTC.
  public var stamp: String { DemoClock.stamp(time) }
}

/// The identifiers of others that one party has stored or received, counted after the demo.
public struct IdentifierCounts: Sendable {
  /// A kind of identifier: how many there are, and how many of them the party has.
  public struct Count: Sendable {
    /// Such as `keys that were not published`.
    public let kind: String
    public let found: Int
    public let total: Int

    /// Such as `7 of 93 beacons of Diagnosed`.
    public var text: String { "\(found) of \(total) \(kind)" }
  }

  /// Such as `Key server`.
  public let party: String
  /// The bytes that were searched.
  public let bytes: Int
  public let counts: [Count]
}

/// The dates of the demo, in UTC.
enum DemoClock {
  /// The first day: Monday, 2 March 2026, 00:00 UTC.
  static let start = Date(timeIntervalSince1970: 1_772_409_600)

  /// The date of `hour`:`minute` on a day; the first day is 1.
  static func day(_ day: Int, _ hour: Int, _ minute: Int = 0) -> Date {
    start.addingTimeInterval(Double((day - 1) * 86400 + hour * 3600 + minute * 60))
  }

  /// Such as `Day 2 09:15`.
  static func stamp(_ date: Date) -> String { "Day \(dayNumber(date)) \(timeOfDay(date))" }

  /// Such as `09:15`.
  static func timeOfDay(_ date: Date) -> String {
    let minutes = Int(date.timeIntervalSince(start) / 60) % 1440
    return twoDigits(minutes / 60) + ":" + twoDigits(minutes % 60)
  }

  /// The number of the day; the first is 1.
  static func dayNumber(_ date: Date) -> Int {
    Int((date.timeIntervalSince(start) / 86400).rounded(.down)) + 1
  }

  private static func twoDigits(_ number: Int) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}
