import Testing

@testable import QuietHTTP

/// Documentation/QuietHTTP.md 2.4. No time of the machine passes here but that of waiting for the sleeper.
@Suite("The end of a reading that takes too long")
struct ReadingDeadlinesTests {
  private let timer = HandTimer()
  private let deadlines: ReadingDeadlines

  init() {
    let timer = timer
    deadlines = ReadingDeadlines(now: { timer.now }, sleep: { try await timer.sleep(until: $0) })
  }

  /// Waits until it is so; gives up after many turns, so that a fault is told and not waited for.
  private func until(_ isSo: () -> Bool) async throws {
    var turns = 0
    while !isSo(), turns < 10_000 {
      turns += 1
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(isSo())
  }

  @Test("A reading is ended when its time is up and not before, at most the pause late")
  func overdue() async throws {
    let ended = Counter()
    _ = deadlines.begin(seconds: 10) { ended.add() }
    try await until { timer.sleeps == [.seconds(1)] }
    // It looks just before the end, and therefore again a pause later.
    let before = Duration.seconds(10) - .nanoseconds(1)
    timer.pass(to: before)
    try await until { timer.sleeps.count == 2 }
    #expect(ended.count == 0)
    #expect(timer.sleeps.last == before + ReadingDeadlines.pause)
    timer.pass(to: before + ReadingDeadlines.pause)
    try await until { ended.count == 1 }
  }

  @Test("On the second it is overdue")
  func onTheSecond() async throws {
    let ended = Counter()
    _ = deadlines.begin(seconds: 10) { ended.add() }
    try await until { timer.sleeps.count == 1 }
    timer.pass(to: .seconds(10))
    try await until { ended.count == 1 }
  }

  @Test("A reading that has ended by itself is let be; the one beside it is not")
  func ended() async throws {
    let (taken, overdue) = (Counter(), Counter())
    let number = deadlines.begin(seconds: 10) { taken.add() }
    _ = deadlines.begin(seconds: 10) { overdue.add() }
    deadlines.end(number)
    try await until { timer.sleeps.count == 1 }
    timer.pass(to: .seconds(20))
    try await until { overdue.count == 1 }
    #expect(taken.count == 0)
  }

  @Test("The sleeper ends with the last reading, and begins again with the next")
  func again() async throws {
    for round in 1...3 {
      let ended = Counter()
      let slept = timer.sleeps.count
      _ = deadlines.begin(seconds: 1) { ended.add() }
      try await until { timer.sleeps.count == slept + 1 }
      timer.pass(to: .seconds(round * 100))
      try await until { ended.count == 1 }
      // Nothing is being read: nobody sleeps.
      #expect(timer.sleeps.count == slept + 1)
    }
  }

  @Test("A sleeper who finds that all have been taken back ends too")
  func takenBack() async throws {
    let number = deadlines.begin(seconds: 1_000) {}
    try await until { timer.sleeps.count == 1 }
    deadlines.end(number)
    timer.pass(to: .seconds(1))
    // Another sleeper is there for the next reading, and only one.
    let ended = Counter()
    for _ in 1...10 { _ = deadlines.begin(seconds: 1) { ended.add() } }
    try await until { timer.sleeps.count == 2 }
    timer.pass(to: .seconds(100))
    try await until { ended.count == 10 }
    #expect(timer.sleeps.count == 2)
  }

  @Test("A thousand at once have one sleeper; those that ended are let be, the others all end")
  func many() async throws {
    let (taken, overdue) = (Counter(), Counter())
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<1_000 {
        group.addTask {
          let isTaken = number.isMultiple(of: 2)
          let mine = deadlines.begin(seconds: 10) { isTaken ? taken.add() : overdue.add() }
          if isTaken { deadlines.end(mine) }
        }
      }
    }
    try await until { timer.sleeps.count == 1 }
    timer.pass(to: .seconds(10))
    try await until { overdue.count == 500 }
    #expect(taken.count == 0)
    #expect(timer.sleeps.count == 1)
  }
}
