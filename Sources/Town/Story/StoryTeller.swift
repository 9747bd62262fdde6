import Foundation
import Simulation

/// Tells a story step by step: what happens now, whether it held, how long it took.
final class StoryTeller {
  private(set) var steps: [StoryStep] = []
  private(set) var timeline: Timeline
  var phones: [StoryResult.Phone] = []

  private let clock: SimulatedClock
  private let onStep: (StoryStep) -> Void

  init(clock: SimulatedClock, timeline: Timeline, onStep: @escaping (StoryStep) -> Void) {
    self.clock = clock
    self.timeline = timeline
    self.onStep = onStep
  }

  var result: StoryResult { StoryResult(steps: steps, phones: phones, timeline: timeline) }

  /// Tells one step on these lanes of the picture. `happen` returns what the story goes on with;
  /// it adds facts as it finds them.
  ///
  /// - Throws: `StoryEnded` where the step did not hold, after telling so.
  func step<Outcome>(
    _ name: String, _ sentence: String, on lanes: Set<StoryLane>,
    passages: [(StoryLane, StoryLane)] = [],
    _ happen: (inout [String]) async throws -> Outcome
  ) async throws -> Outcome {
    let time = clock.now
    let start = ContinuousClock.now
    var facts: [String] = []
    let result: Result<Outcome, any Error>
    do {
      result = .success(try await happen(&facts))
    } catch {
      facts.append("This did not hold: \(error)")
      result = .failure(error)
    }
    let ok = (try? result.get()) != nil
    let step = StoryStep(
      name: name, time: time, sentence: sentence, facts: facts, ok: ok,
      milliseconds: Self.milliseconds(since: start))
    steps.append(step)
    draw(lanes: lanes, passages: passages, at: time, ok: ok)
    onStep(step)
    guard case .success(let outcome) = result else { throw StoryEnded() }
    return outcome
  }

  /// Shades the time two neighbouring lanes spent together.
  func drawMeeting(_ lanes: ClosedRange<StoryLane>, from: Date, to: Date, label: String) {
    timeline.meetings.append(
      Timeline.Meeting(
        lanes: lanes.lowerBound.rawValue...lanes.upperBound.rawValue, from: from, to: to,
        label: label))
  }

  private func draw(
    lanes: Set<StoryLane>, passages: [(StoryLane, StoryLane)], at time: Date, ok: Bool
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
