// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Testing

@testable import Bench

@Suite("Kernels on several threads")
struct BareKernelThreadsTests {
  private let start = ContinuousClock.now
  private let workload = MatchWorkload(keys: 300, sightings: 100, seed: 4)

  private func kernels(threads: Int) -> BareKernelThreads {
    BareKernelThreads(workload: workload, tier: .fastest, threads: threads)
  }

  @Test("Each thread of a trial makes every pass over all keys, other threads none")
  func everyThread() {
    let trials = KernelStage.allCases.flatMap { stage in
      [
        BareKernelThreads.Trial(stage: stage, threads: 3, passes: 2),
        BareKernelThreads.Trial(stage: stage, threads: 1, passes: 5),
      ]
    }
    let keys = kernels(threads: 3).run(trials).map { $0.map(\.keys) }
    #expect(keys == Array(repeating: [[600, 600, 600], [1_500]], count: 3).flatMap(\.self))
  }

  @Test("A trial starts when all threads have finished the previous one")
  func barrier() throws {
    let trial = BareKernelThreads.Trial(stage: .blocks, threads: 4, passes: 3)
    let shares = kernels(threads: 4).run(Array(repeating: trial, count: 20))
    for (before, after) in zip(shares, shares.dropFirst()) {
      let (end, begin) = (before.map(\.end).max(), after.map(\.begin).min())
      #expect(try #require(end) <= #require(begin))
    }
  }

  /// A share of 100 keys with a start and an end in nanoseconds.
  private func share(_ begin: Int, _ end: Int) -> BareKernelThreads.Share {
    BareKernelThreads.Share(
      keys: 100, begin: start + .nanoseconds(begin), end: start + .nanoseconds(end))
  }

  @Test("A trial lasts from the first start to the last end")
  func time() {
    #expect([share(500, 2_000), share(0, 1_000)].nanosecondsPerKey == 10)
    #expect([share(0, 2_000)].nanosecondsPerKey == 20)
  }

  @Test("The speedup is computed from the best rounds and as the median of the rounds")
  func speedup() {
    // Nanoseconds per key on one thread and on two, for three stages in each of three rounds.
    let rounds = [
      [(60, 30), (80, 40), (10, 5)], [(50, 40), (80, 60), (20, 20)],
      [(55, 60), (80, 70), (15, 20)],
    ]
    let limit = KernelLimitOnThreads(
      rounds.flatMap { round in
        zip(KernelStage.allCases, round).flatMap { stage, times in
          [
            (
              BareKernelThreads.Trial(stage: stage, threads: 1, passes: 1),
              [share(0, times.0 * 100)]
            ),
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
