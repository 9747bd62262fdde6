// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// Runs jobs on several threads and returns their results in the order of submission.
///
/// The submitting thread takes part: it runs jobs itself while too many are queued, so it never
/// overtakes the pool and memory stays bounded. With one thread, everything runs on the caller.
/// Jobs must be submitted from one thread at a time.
///
/// ```swift
/// let pool = OrderedThreadPool(threads: 4, queuedPerThreadMax: 2) { (piece: Piece) in deflate(piece) }
/// for piece in pieces { try write(pool.submit(piece)) }
/// try write(pool.finish())
/// ```
package final class OrderedThreadPool<Job: Sendable, Output: Sendable, Failure: Error>: Sendable {
  private typealias NumberedJob = (number: Int, job: Job)

  private struct State {
    var queue: [NumberedJob] = []
    var outputs: [Int: Output] = [:]
    var failure: Failure?
    var submittedCount = 0
    var returnedCount = 0
    var activeThreadCount = 0
  }

  private let perform: @Sendable (Job) throws(Failure) -> Output
  private let extraThreads: Int
  private let queuedMax: Int
  private let inFlightMax: Int
  private let state = Mutex(State())
  /// Entered for each job that is running.
  private let running = DispatchGroup()

  /// Creates a pool of `threads` threads, including the submitting one.
  ///
  /// - Parameters:
  ///   - queuedPerThreadMax: The number of jobs per additional thread that may be queued when `submit` returns.
  ///   - inFlightMax: The number of submitted jobs without a returned result at which `submit` waits for all of them.
  package init(
    threads: Int, queuedPerThreadMax: Int, inFlightMax: Int = .max,
    perform: @escaping @Sendable (Job) throws(Failure) -> Output
  ) {
    self.perform = perform
    self.inFlightMax = inFlightMax
    extraThreads = max(threads, 1) - 1
    queuedMax = extraThreads * queuedPerThreadMax
  }

  /// Adds a job. May run jobs on the calling thread before it returns.
  ///
  /// - Returns: The results that are next in order and available.
  /// - Throws: The first failure of any job; later jobs are not started.
  package func submit(_ job: Job) throws(Failure) -> [Output] {
    if try enqueue(job, mayStartThread: true) {
      DispatchQueue.global(qos: .utility).async { self.runQueuedJobs() }
    }
    while let job = nextJob(leaving: queuedMax) { run(job) }
    let outputs = try takeOutputs()
    guard inFlightCount >= inFlightMax else { return outputs }
    // One slow job would otherwise let the results after it accumulate.
    drain()
    return outputs + (try takeOutputs())
  }

  /// Adds a last job without starting a thread for it, waits for all jobs and returns the remaining results.
  ///
  /// - Throws: The first failure of any job.
  package func finish(submitting job: Job) throws(Failure) -> [Output] {
    _ = try enqueue(job, mayStartThread: false)
    return try finish()
  }

  /// Waits for all jobs and returns the remaining results.
  ///
  /// - Throws: The first failure of any job.
  package func finish() throws(Failure) -> [Output] {
    drain()
    return try takeOutputs()
  }

  /// Discards queued jobs and waits for those that are running. The pool cannot be used afterwards.
  package func cancel() {
    state.withLock { $0.queue.removeAll() }
    running.wait()
  }

  /// The number of jobs that were submitted and whose results have not been returned.
  package var inFlightCount: Int { state.withLock { $0.submittedCount - $0.returnedCount } }

  /// The number of jobs that no thread has started.
  package var queuedCount: Int { state.withLock { $0.queue.count } }

  private func drain() {
    while let job = nextJob(leaving: 0) { run(job) }
    running.wait()
  }

  /// Returns `true` if the caller should start a thread.
  private func enqueue(_ job: Job, mayStartThread: Bool) throws(Failure) -> Bool {
    try state.withLock { state throws(Failure) in
      if let failure = state.failure { throw failure }
      state.queue.append((state.submittedCount, job))
      state.submittedCount += 1
      guard mayStartThread, state.activeThreadCount < extraThreads else { return false }
      state.activeThreadCount += 1
      return true
    }
  }

  private func takeOutputs() throws(Failure) -> [Output] {
    try state.withLock { state throws(Failure) in
      if let failure = state.failure { throw failure }
      var outputs: [Output] = []
      while let next = state.outputs.removeValue(forKey: state.returnedCount) {
        outputs.append(next)
        state.returnedCount += 1
      }
      return outputs
    }
  }

  private func runQueuedJobs() {
    while let job = nextJobOrStop() { run(job) }
  }

  private func nextJob(leaving count: Int) -> NumberedJob? {
    state.withLock { state in state.queue.count > count ? takeJob(from: &state) : nil }
  }

  private func nextJobOrStop() -> NumberedJob? {
    state.withLock { state in
      if let job = takeJob(from: &state) { return job }
      state.activeThreadCount -= 1
      return nil
    }
  }

  private func takeJob(from state: inout State) -> NumberedJob? {
    guard !state.queue.isEmpty else { return nil }
    running.enter()
    return state.queue.removeFirst()
  }

  private func run(_ numbered: NumberedJob) {
    defer { running.leave() }
    do throws(Failure) {
      let output = try perform(numbered.job)
      state.withLock { $0.outputs[numbered.number] = output }
    } catch {
      state.withLock { state in
        state.failure = state.failure ?? error
        state.queue.removeAll()
      }
    }
  }
}
