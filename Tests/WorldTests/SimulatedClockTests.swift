// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing
import World

@Suite("Simulated clock")
struct SimulatedClockTests {
  private let clock = SimulatedClock(now: Date(timeIntervalSince1970: 1000))

  @Test("Sleeping until a past date returns at once")
  func pastDeadline() async throws {
    try await clock.sleep(until: Date(timeIntervalSince1970: 1000))
  }

  @Test("A sleeper resumes when the clock reaches its deadline, not before")
  func wakes() async throws {
    let executor = ManualExecutor()
    let deadline = clock.now.addingTimeInterval(60)
    let sleeper = Task(executorPreference: executor) {
      try await clock.sleep(until: deadline)
      return clock.now
    }
    await executor.runUntilIdle()
    clock.advance(by: 59)
    // The clock resumes due sleepers before `advance` returns.
    #expect(executor.isIdle)
    clock.advance(by: 1)
    try #require(!executor.isIdle)
    await executor.runUntilIdle()
    #expect(try await sleeper.value == deadline)
  }

  @Test("The clock never moves back")
  func neverBack() {
    clock.advance(to: Date(timeIntervalSince1970: 10))
    #expect(clock.now == Date(timeIntervalSince1970: 1000))
  }

  @Test("A cancelled sleeper throws CancellationError at once")
  func cancelled() async {
    let sleeper = Task { try await clock.sleep(until: .distantFuture) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  @Test("A clock that follows a source shows its time, and does not go back with it")
  func source() {
    let source = TimeInSteps(Date(timeIntervalSince1970: 1000))
    let clock = SimulatedClock(following: source)
    source.move(by: 60)
    #expect(clock.now == Date(timeIntervalSince1970: 1060))
    source.move(by: -30)
    #expect(clock.now == Date(timeIntervalSince1970: 1060))
    #expect(clock.reading.uptime == clock.now.timeIntervalSinceReferenceDate)
  }

  @Test("A sleeper asks the source again until its deadline has come")
  func sourceSleeper() async throws {
    let source = TimeInSteps(Date(timeIntervalSince1970: 1000))
    let clock = SimulatedClock(following: source)
    try await clock.sleep(until: Date(timeIntervalSince1970: 1025))
    #expect(clock.now == Date(timeIntervalSince1970: 1030))
    try await clock.sleep(until: Date(timeIntervalSince1970: 1030))
    #expect(clock.now == Date(timeIntervalSince1970: 1030))
  }
}

/// A time that moves by ten seconds in each pause.
private final class TimeInSteps: SimulatedTimeSource {
  private let time: Mutex<Date>

  init(_ start: Date) { time = Mutex(start) }

  var now: Date { time.withLock { $0 } }

  func move(by seconds: TimeInterval) { time.withLock { $0 += seconds } }

  func pause(until deadline: Date) async throws { move(by: 10) }
}

/// Runs tasks when a test says so, and shows if they are all suspended.
private final class ManualExecutor: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  /// True if no task can run.
  var isIdle: Bool { jobs.withLock { $0.isEmpty } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Runs the tasks until all are suspended or have ended. On a thread of its own, because the caller is a task.
  func runUntilIdle() async {
    await withCheckedContinuation { (idle: CheckedContinuation<Void, Never>) in
      Thread.detachNewThread {
        while let job = self.nextJob() { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        idle.resume()
      }
    }
  }

  private func nextJob() -> UnownedJob? {
    jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }
}
