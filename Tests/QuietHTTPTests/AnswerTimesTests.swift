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
}
