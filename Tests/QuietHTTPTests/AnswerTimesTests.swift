import Testing
import World

@testable import QuietHTTP

@Suite("Decoys: the times of real answers")
struct AnswerTimesTests {
  @Test("The latest are kept, one below, on and one above their number", arguments: 2...4)
  func latest(_ count: Int) {
    var durations = LatestDurations(countMax: 3)
    for number in 1...count { durations.append(.seconds(number)) }
    #expect(Set(durations.all) == Set((max(1, count - 2)...count).map { .seconds($0) }))
  }

  @Test("The one in the middle is no outlier; of none it is zero")
  func median() {
    var durations = LatestDurations(countMax: 3)
    #expect(durations.median == .zero)
    for seconds in [5, 1, 900] { durations.append(.seconds(seconds)) }
    #expect(durations.median == .seconds(5))
  }

  @Test("A time that is drawn is that of a real answer, and none is longer than the limit")
  func drawn() {
    let times = AnswerTimes(randomness: SystemRandomness())
    #expect(times.drawn() == .zero)
    for seconds in [1, 2] { times.remember(.seconds(seconds)) }
    let drawn = Set((0..<100).map { _ in times.drawn() })
    #expect(drawn == [.seconds(1), .seconds(2)])
    for _ in 0..<QuietLimit.answerTimesMax {
      times.remember(.seconds(QuietLimit.decoySecondsMax + 1))
    }
    #expect(times.drawn() == .seconds(QuietLimit.decoySecondsMax))
  }

  /// What is drawn in many draws.
  private func drawn(from times: AnswerTimes) -> Set<Duration> {
    Set((0..<20_000).map { _ in times.drawn() })
  }

  @Test("5.3 A decoy takes one of the real times and never a mean, so that it varies as they do")
  func varies() {
    let times = AnswerTimes(randomness: SystemRandomness())
    let real: [Duration] = [.milliseconds(3), .milliseconds(4), .milliseconds(16)]
    for time in real { times.remember(time) }
    #expect(drawn(from: times) == Set(real))
  }

  @Test("So many times are remembered; of one more the oldest goes", arguments: [-1, 0, 1])
  func remembered(offset: Int) {
    let times = AnswerTimes(randomness: SystemRandomness())
    let all = (1...QuietLimit.answerTimesMax + offset).map { Duration.microseconds($0) }
    for time in all { times.remember(time) }
    #expect(drawn(from: times) == Set(all.suffix(QuietLimit.answerTimesMax)))
  }

  @Test("No decoy waits longer than the limit", arguments: [-1, 0, 1])
  func longest(offset: Int) {
    let times = AnswerTimes(randomness: SystemRandomness())
    let limit = Duration.seconds(QuietLimit.decoySecondsMax)
    times.remember(limit + .milliseconds(offset))
    #expect(times.drawn() == limit + .milliseconds(min(offset, 0)))
  }

  @Test("Delays of a busy hour are forgotten, though they are longer than any answer takes")
  func delaysAreMeasuredAnew() async throws {
    let times = AnswerTimes(randomness: SystemRandomness())
    times.remember(.seconds(QuietLimit.decoySecondsMax))
    for _ in 0..<QuietLimit.wakingDelaysMax { times.rememberDelay(.seconds(900)) }
    #expect(times.usualDelay == .seconds(900))
    for _ in 0..<QuietLimit.wakingDelaysMax where times.usualDelay == .seconds(900) {
      try await times.wait(since: .now)
    }
    #expect(times.usualDelay < .seconds(900))
  }
}
