// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing
import World

@Suite("Ordered thread pool")
struct OrderedThreadPoolTests {
  private struct JobFailure: Error, Equatable {}

  private typealias Pool = OrderedThreadPool<Int, Int, JobFailure>

  /// The jobs that ran, and their threads.
  private final class Ledger: Sendable {
    private let all = Mutex<[(job: Int, thread: pthread_t)]>([])

    var jobs: [Int] { all.withLock { $0.map(\.job) } }
    var threads: Set<pthread_t> { all.withLock { Set($0.map(\.thread)) } }

    func record(_ job: Int) {
      all.withLock { $0.append((job, pthread_self())) }
    }
  }

  /// Blocks threads until it is opened, or until the timeout of tests expires.
  private final class Gate: Sendable {
    private let group = DispatchGroup()

    init() { group.enter() }

    func open() { group.leave() }
    func wait() { _ = group.wait(timeout: .now() + .seconds(Patience.seconds)) }
  }

  @Test("Results come back in the order of submission, whichever is ready first", arguments: 1...4)
  func order(threads: Int) throws {
    let pool = Pool(threads: threads, queuedPerThreadMax: 2, inFlightMax: 16) { job in
      // Every third takes longer than those after it.
      if job % 3 == 0 { usleep(2_000) }
      return job
    }
    var outputs: [Int] = []
    for job in 0..<100 { outputs += try pool.submit(job) }
    outputs += try pool.finish(submitting: 100)
    #expect(outputs == Array(0...100))
    #expect(pool.inFlightCount == 0)
  }

  @Test("Without a last job, finish returns the remaining results", arguments: 1...3)
  func finish(threads: Int) throws {
    let pool = Pool(threads: threads, queuedPerThreadMax: 2) { $0 * 2 }
    var outputs: [Int] = []
    for job in 0..<10 { outputs += try pool.submit(job) }
    outputs += try pool.finish()
    #expect(outputs == (0..<10).map { $0 * 2 })
    #expect(try pool.finish().isEmpty)
  }

  @Test("After a failure no job is started, and every later call throws it")
  func failure() throws {
    let ledger = Ledger()
    let pool = Pool(threads: 1, queuedPerThreadMax: 2) { job throws(JobFailure) in
      ledger.record(job)
      if job == 2 { throw JobFailure() }
      return job
    }
    for job in 0..<2 { _ = try pool.submit(job) }
    for _ in 0..<2 {
      #expect(throws: JobFailure()) { try pool.submit(2) }
    }
    #expect(throws: JobFailure()) { try pool.finish(submitting: 3) }
    #expect(throws: JobFailure()) { try pool.finish() }
    #expect(ledger.jobs == [0, 1, 2])
  }

  @Test("A failure on another thread is thrown by finish")
  func failureElsewhere() throws {
    let (started, fail) = (Gate(), Gate())
    let pool = Pool(threads: 2, queuedPerThreadMax: 2) { job throws(JobFailure) in
      guard job == 0 else { return job }
      started.open()
      fail.wait()
      throw JobFailure()
    }
    #expect(try pool.submit(0).isEmpty)
    started.wait()
    #expect(try pool.submit(1).isEmpty)
    fail.open()
    #expect(throws: JobFailure()) { try pool.finish(submitting: 2) }
  }

  @Test("While a thread is blocked, 16 jobs are in flight and no more")
  func bounded() throws {
    let (started, release) = (Gate(), Gate())
    let pool = Pool(threads: 2, queuedPerThreadMax: 2, inFlightMax: 16) { job in
      if job == 0 {
        started.open()
        release.wait()
      }
      // The last that may be in flight before the first is done.
      if job == 15 { release.open() }
      return job
    }
    var outputs: [Int] = []
    for job in 0..<40 {
      outputs += try pool.submit(job)
      if job == 0 { started.wait() }
      if job < 15 { #expect(outputs.isEmpty) }
      #expect(pool.inFlightCount < 16)
    }
    outputs += try pool.finish(submitting: 40)
    #expect(outputs == Array(0...40))
  }

  @Test("While a thread is blocked, the queue stays within its bound", arguments: [1, 3])
  func queued(perThreadMax: Int) throws {
    let (started, release) = (Gate(), Gate())
    let pool = Pool(threads: 2, queuedPerThreadMax: perThreadMax) { job in
      if job == 0 {
        started.open()
        release.wait()
      }
      return job
    }
    _ = try pool.submit(0)
    started.wait()
    for job in 1..<20 {
      _ = try pool.submit(job)
      #expect(pool.queuedCount == min(job, perThreadMax))
    }
    release.open()
    #expect(try pool.finish() == Array(0..<20))
    #expect(pool.queuedCount == 0)
  }

  @Test("Cancellation waits for running jobs and starts no queued one")
  func cancelled() throws {
    let ledger = Ledger()
    let (started, release) = (Gate(), Gate())
    let pool = Pool(threads: 2, queuedPerThreadMax: 2) { job in
      started.open()
      release.wait()
      ledger.record(job)
      return job
    }
    _ = try pool.submit(0)
    started.wait()
    for job in 1...2 { _ = try pool.submit(job) }
    #expect(pool.queuedCount == 2)
    let giveUp = ContinuousClock.now + .seconds(Patience.seconds)
    Thread.detachNewThread {
      // The cancellation empties the queue and then waits for the running job.
      while pool.queuedCount > 0, ContinuousClock.now < giveUp { usleep(1_000) }
      release.open()
    }
    pool.cancel()
    #expect(ledger.jobs == [0])
    usleep(20_000)
    #expect(ledger.jobs == [0])
  }

  @Test("A single last job, and every job of a single thread, runs on the calling thread")
  func callingThread() throws {
    for (threads, count) in [(4, 1), (1, 20), (0, 20)] {
      let ledger = Ledger()
      let pool = Pool(threads: threads, queuedPerThreadMax: 2) { job in
        ledger.record(job)
        return job
      }
      for job in 1..<count { _ = try pool.submit(job) }
      _ = try pool.finish(submitting: count)
      #expect(ledger.jobs == Array(1...count))
      #expect(ledger.threads == [pthread_self()])
    }
  }
}
