// SPDX-License-Identifier: Apache-2.0
import Foundation
import Simulation
import World

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

/// Runs and records the steps of the demo.
final class DemoRecorder {
  private(set) var steps: [DemoStep] = []
  private(set) var timeline = Timeline()
  var phones: [DemoResult.Phone] = []
  var knowledge: [IdentifierCounts] = []

  private let clock: SimulatedClock
  private let onStep: (DemoStep) -> Void

  init(clock: SimulatedClock, onStep: @escaping (DemoStep) -> Void) {
    self.clock = clock
    self.onStep = onStep
  }

  var result: DemoResult {
    DemoResult(steps: steps, phones: phones, knowledge: knowledge, timeline: timeline)
  }

  /// Runs one step and records it on these lanes of the picture. `body` adds facts and returns a value for
  /// later steps.
  ///
  /// - Throws: `DemoStopped` if the step failed, after recording it.
  func step<Outcome>(
    _ name: String, _ sentence: String, on lanes: Set<DemoLane>,
    messages: [(from: DemoLane, to: DemoLane)] = [],
    _ body: (inout [String]) async throws -> Outcome
  ) async throws -> Outcome {
    let time = clock.now
    let start = ContinuousClock.now
    var facts: [String] = []
    let result: Result<Outcome, any Error>
    do {
      result = .success(try await body(&facts))
    } catch {
      facts.append("Failed: \(error)")
      result = .failure(error)
    }
    let ok = if case .success = result { true } else { false }
    let step = DemoStep(
      name: name, time: time, sentence: sentence, facts: facts, ok: ok,
      milliseconds: Self.milliseconds(since: start))
    steps.append(step)
    timeline.rows.append(
      Timeline.Row(
        number: steps.count, time: time, ok: ok, lanes: lanes.sorted(), messages: messages))
    onStep(step)
    guard case .success(let outcome) = result else { throw DemoStopped() }
    return outcome
  }

  /// Records that two neighbouring lanes were together during the last step.
  func recordMeeting(_ lanes: ClosedRange<DemoLane>, label: String) {
    timeline.rows[timeline.rows.count - 1].meeting = Timeline.Meeting(lanes: lanes, label: label)
  }

  private static func milliseconds(since start: ContinuousClock.Instant) -> Int {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
  }
}

/// The lanes of the picture, from left to right.
enum DemoLane: Int, CaseIterable, Comparable {
  case far, near, diagnosed, verificationServer, keyServer

  static func < (left: DemoLane, right: DemoLane) -> Bool { left.rawValue < right.rawValue }

  var name: String {
    switch self {
    case .far, .near, .diagnosed: "\(self)"
    case .verificationServer: "verification"
    case .keyServer: "key"
    }
  }

  var detail: String { self < .verificationServer ? "phone" : "server" }

  var title: String { "\(name) \(detail)" }
}

/// A step failed and is recorded; the demo ends.
struct DemoStopped: Error {}

/// The dates of the demo, in UTC.
enum DemoClock {
  /// The first day: Monday, 2 March 2026, 00:00 UTC.
  static let start = Date(unixSecond: 1_772_409_600)

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
