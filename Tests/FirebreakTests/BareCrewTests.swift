import ExposureNotification
import Testing

@testable import firebreak

/// Documentation/Performance.md 4.4.
@Suite("The bare kernels on several threads")
struct BareCrewTests {
  private let start = ContinuousClock.now
  private let workload = MatchWorkload(keys: 300, sightings: 100, seed: 4)

  private func crew(threads: Int) -> BareKernelThreads {
    BareKernelThreads(workload: workload, tier: .fastest, threads: threads)
  }

  @Test("Each thread of a trial does every pass of it on all keys, and the others do nothing")
  func everyThread() {
    let trials = KernelStage.allCases.flatMap { stage in
      [
        BareKernelThreads.Trial(stage: stage, threads: 3, passes: 2),
        BareKernelThreads.Trial(stage: stage, threads: 1, passes: 5),
      ]
    }
    let keys = crew(threads: 3).run(trials).map { $0.map(\.keys) }
    #expect(keys == Array(repeating: [[600, 600, 600], [1_500]], count: 3).flatMap(\.self))
  }

  @Test("No thread begins a trial before every thread is done with the one before")
  func inStep() throws {
    let trial = BareKernelThreads.Trial(stage: .blocks, threads: 4, passes: 3)
    let shares = crew(threads: 4).run(Array(repeating: trial, count: 20))
    for (before, after) in zip(shares, shares.dropFirst()) {
      let (end, begin) = (before.map(\.end).max(), after.map(\.begin).min())
      #expect(try #require(end) <= #require(begin))
    }
  }

  /// 100 keys, from one nanosecond to another.
  private func share(_ begin: Int, _ end: Int) -> BareKernelThreads.Share {
    BareKernelThreads.Share(
      keys: 100, begin: start + .nanoseconds(begin), end: start + .nanoseconds(end))
  }

  @Test("A trial lasts from the first thread's begin to the last one's end")
  func time() {
    #expect([share(500, 2_000), share(0, 1_000)].nanosecondsPerKey == 10)
    #expect([share(0, 2_000)].nanosecondsPerKey == 20)
  }

  @Test("The gain is told of the best rounds, and of the round in the middle")
  func gain() {
    // A key on one thread and on two, in nanoseconds: three stages in each of three rounds.
    let rounds = [
      [(60, 30), (80, 40), (10, 5)], [(50, 40), (80, 60), (20, 20)],
      [(55, 60), (80, 70), (15, 20)],
    ]
    let limit = KernelLimitOnThreads(
      rounds.flatMap { round in
        zip(KernelStage.allCases, round).flatMap { stage, times in
          [
            (BareKernelThreads.Trial(stage: stage, threads: 1, passes: 1), [share(0, times.0 * 100)]),
            (
              BareKernelThreads.Trial(stage: stage, threads: 2, passes: 1),
              [share(0, times.1 * 200), share(0, times.1 * 150)]
            ),
          ]
        }
      })
    #expect(limit.oneThreadNanosecondsPerKey == 140)
    #expect(limit.nanosecondsPerKey.schedule == 30)
    #expect(limit.nanosecondsPerKey.blocks == 40)
    #expect(limit.nanosecondsPerKey.probe == 5)
    #expect(limit.nanosecondsPerKey.total == 75)
    #expect(limit.scaling == 1.87)
    // 150 over 75, 150 over 120, 150 over 150.
    #expect(limit.medianScaling == 1.25)
  }
}
