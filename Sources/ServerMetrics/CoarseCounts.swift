// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import World

/// Counts of what single users do, such as refused uploads, that show no single user.
///
/// A count grows in steps of ten, and an event is counted only after its window of ten minutes has ended. The events of
/// the ended windows are rounded up or down to a multiple of ten with the probabilities that preserve the mean, and
/// with new random numbers each time. So one event changes the count with a probability of a tenth, and ten events of
/// a window always do. See Documentation/Decisions/0043-metrics-show-no-single-user.md.
package final class CoarseCounts: Sendable {
  /// The step of the counts, as in the statistics of uploads.
  package static let step = 10
  /// The length of a window in seconds.
  package static let windowSeconds: TimeInterval = 600

  private struct Count {
    /// The events of the current window.
    var current = 0
    /// The events of ended windows that are not rounded yet.
    var ended = 0
    var shown = 0
  }

  private struct State {
    var window: Int64
    var counts: [String: Count]
  }

  private let labels: Set<String>
  private let clock: any WallClock
  private let randomness: any Randomness
  private let state: Mutex<State>

  /// Creates counts of zero for `labels`. Other labels are shown when their count is not zero.
  package init(_ labels: [String], clock: any WallClock, randomness: any Randomness) {
    self.labels = Set(labels)
    self.clock = clock
    self.randomness = randomness
    let counts = labels.map { ($0, Count()) }
    state = Mutex(
      State(
        window: Self.window(at: clock.now), counts: Dictionary(counts, uniquingKeysWith: { $1 })))
  }

  /// Counts an event.
  package func add(_ label: String) {
    let window = Self.window(at: clock.now)
    state.withLock { state in
      Self.begin(window, in: &state)
      state.counts[label, default: Count()].current += 1
    }
  }

  /// The counts by label, without the events of the current window.
  package var shown: [String: Int] {
    let window = Self.window(at: clock.now)
    return state.withLock { state in
      Self.begin(window, in: &state)
      for (label, count) in state.counts where count.ended > 0 {
        let rounding = randomness.number(in: 0...Self.step - 1)
        state.counts[label]?.shown += (count.ended + rounding) / Self.step * Self.step
        state.counts[label]?.ended = 0
      }
      // The presence of a label would show its first event.
      return state.counts.mapValues(\.shown).filter { $0.value > 0 || labels.contains($0.key) }
    }
  }

  private static func window(at now: Date) -> Int64 { now.unixSecond / Int64(windowSeconds) }

  /// Ends the current window if `window` is another one, also after the clock was set back.
  private static func begin(_ window: Int64, in state: inout State) {
    guard window != state.window else { return }
    state.window = window
    for (label, count) in state.counts where count.current > 0 {
      state.counts[label]?.ended += count.current
      state.counts[label]?.current = 0
    }
  }
}
