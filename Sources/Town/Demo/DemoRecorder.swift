import Foundation
import Simulation

/// Runs and records the steps of the demo.
final class DemoRecorder {
  private(set) var steps: [DemoStep] = []
  private(set) var timeline: Timeline
  var phones: [DemoResult.Phone] = []
  var knowledge: [IdentifierCounts] = []

  private let clock: SimulatedClock
  private let onStep: (DemoStep) -> Void

  init(clock: SimulatedClock, timeline: Timeline, onStep: @escaping (DemoStep) -> Void) {
    self.clock = clock
    self.timeline = timeline
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
    messages: [(DemoLane, DemoLane)] = [],
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
    let ok = (try? result.get()) != nil
    let step = DemoStep(
      name: name, time: time, sentence: sentence, facts: facts, ok: ok,
      milliseconds: Self.milliseconds(since: start))
    steps.append(step)
    timeline.rows.append(
      Timeline.Row(
        number: steps.count, time: time, ok: ok, lanes: lanes.map(\.rawValue).sorted(),
        arrows: messages.map { Timeline.MessageArrow(from: $0.rawValue, to: $1.rawValue) }))
    onStep(step)
    guard case .success(let outcome) = result else { throw DemoStopped() }
    return outcome
  }

  /// Records that two neighbouring lanes were together during the last step.
  func recordMeeting(_ lanes: ClosedRange<DemoLane>, label: String) {
    timeline.rows[timeline.rows.count - 1].meeting = Timeline.Meeting(
      lanes: lanes.lowerBound.rawValue...lanes.upperBound.rawValue, label: label)
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

  var lane: Timeline.Lane {
    switch self {
    case .far: Timeline.Lane(name: "far", detail: "phone")
    case .near: Timeline.Lane(name: "near", detail: "phone")
    case .diagnosed: Timeline.Lane(name: "diagnosed", detail: "phone")
    case .verificationServer: Timeline.Lane(name: "verification", detail: "server")
    case .keyServer: Timeline.Lane(name: "key", detail: "server")
    }
  }
}
