import DiagnosisKeyFile
import Dispatch
import Synchronization

/// Searches batches on several threads and gives the findings back in the order of the batches.
///
/// The thread that adds batches helps where too many wait, so no thread ever waits for room, and one
/// thread alone is a crew as well (Documentation/Matching.md 8).
final class MatchCrew: Sendable {
  private typealias Job = (number: Int, batch: ProvisionalKeyBatch)

  private struct State {
    var waiting: [Job] = []
    var found: [Int: BatchFindings] = [:]
    var added = 0
    var taken = 0
    var helping = 0
    var scratches: [MatchScratch] = []
  }

  private let matcher: Matcher
  private let openKeys: OpenKeys?
  private let helpers: Int
  private let state = Mutex(State())
  /// Holds the batches that some thread is at work on.
  private let working = DispatchGroup()

  /// A crew of `threads`, the caller's included.
  init(_ matcher: Matcher, threads: Int, openKeys: OpenKeys?) {
    let limits = MatchLimit.threads
    helpers = min(max(threads, limits.lowerBound), limits.upperBound) - 1
    self.matcher = matcher
    self.openKeys = openKeys
  }

  /// Takes a batch in; may search for keys itself before it returns.
  func add(_ batch: ProvisionalKeyBatch) {
    let needsHelp = state.withLock { state in
      state.waiting.append((state.added, batch))
      state.added += 1
      guard state.helping < helpers else { return false }
      state.helping += 1
      return true
    }
    if needsHelp { DispatchQueue.global(qos: .utility).async { self.help() } }
    while let job = takeJob(leaving: helpers * MatchLimit.batchesWaiting) { work(on: job) }
  }

  /// The findings that are next in order, as far as they are there.
  func takeFindings() -> [BatchFindings] {
    state.withLock { state in
      var findings: [BatchFindings] = []
      while let next = state.found.removeValue(forKey: state.taken) {
        findings.append(next)
        state.taken += 1
      }
      return findings
    }
  }

  /// Returns when every batch has been searched.
  func finish() {
    while let job = takeJob(leaving: 0) { work(on: job) }
    working.wait()
  }

  /// Drops what waits, and returns when nobody is at work any more.
  func abandon() {
    state.withLock { $0.waiting.removeAll() }
    working.wait()
  }

  /// How many batches wait: for tests.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  private func help() {
    while let job = takeJobOrLeave() { work(on: job) }
  }

  private func takeJob(leaving count: Int) -> Job? {
    state.withLock { state in state.waiting.count > count ? take(from: &state) : nil }
  }

  private func takeJobOrLeave() -> Job? {
    state.withLock { state in
      if let job = take(from: &state) { return job }
      state.helping -= 1
      return nil
    }
  }

  private func take(from state: inout State) -> Job? {
    guard !state.waiting.isEmpty else { return nil }
    working.enter()
    return state.waiting.removeFirst()
  }

  private func work(on job: Job) {
    let scratch = state.withLock { $0.scratches.popLast() } ?? matcher.scratch()
    var findings = matcher.findings(in: job.batch.keys, with: scratch)
    findings.areRevised = job.batch.areRevised
    if let openKeys { findings.openKeys = openKeys.keys(of: job.batch.keys.rows) }
    let found = findings
    state.withLock { state in
      state.found[job.number] = found
      state.scratches.append(scratch)
    }
    working.leave()
  }
}
