import Foundation
import Simulation

/// Runs and records the steps of the demo.
final class DemoRecorder {
  private(set) var steps: [DemoStep] = []
  private(set) var timeline: Timeline
  var phones: [DemoResult.Phone] = []

  private let clock: SimulatedClock
  private let onStep: (DemoStep) -> Void

  init(clock: SimulatedClock, timeline: Timeline, onStep: @escaping (DemoStep) -> Void) {
    self.clock = clock
    self.timeline = timeline
    self.onStep = onStep
  }

  var result: DemoResult { DemoResult(steps: steps, phones: phones, timeline: timeline) }

  /// Runs one step and records it on these lanes of the picture. `body` adds facts and returns a value for
  /// later steps.
  ///
  /// - Throws: `DemoStopped` if the step failed, after recording it.
  func step<Outcome>(
    _ name: String, _ sentence: String, on lanes: Set<DemoLane>,
    passages: [(DemoLane, DemoLane)] = [],
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
    draw(lanes: lanes, passages: passages, at: time, ok: ok)
    onStep(step)
    guard case .success(let outcome) = result else { throw DemoStopped() }
    return outcome
  }

  /// Records the time that two neighbouring lanes spent together.
  func recordMeeting(_ lanes: ClosedRange<DemoLane>, from: Date, to: Date, label: String) {
    timeline.meetings.append(
      Timeline.Meeting(
        lanes: lanes.lowerBound.rawValue...lanes.upperBound.rawValue, from: from, to: to,
        label: label))
  }

  private func draw(
    lanes: Set<DemoLane>, passages: [(DemoLane, DemoLane)], at time: Date, ok: Bool
  ) {
    for lane in lanes {
      timeline.marks.append(
        Timeline.Mark(number: steps.count, lane: lane.rawValue, time: time, ok: ok))
    }
    for (from, to) in passages {
      timeline.passages.append(
        Timeline.Passage(
          from: from.rawValue, to: to.rawValue, time: time, label: steps.last?.sentence ?? ""))
    }
  }

  private static func milliseconds(since start: ContinuousClock.Instant) -> Int {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
  }
}

/// The lanes of the picture, from top to bottom.
enum DemoLane: Int, CaseIterable, Comparable {
  case far, near, diagnosed, verificationServer, keyServer

  static func < (left: DemoLane, right: DemoLane) -> Bool { left.rawValue < right.rawValue }

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
