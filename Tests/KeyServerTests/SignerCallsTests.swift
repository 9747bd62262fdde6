// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerStorage
import Synchronization
import TestSupport
import Testing

@testable import KeyServer

@Suite("Calls of keys that may block")
struct SignerCallsTests {
  /// Work that blocks its thread until it is released, at most as long as a test may wait.
  private final class Work: Sendable {
    private let state = Mutex((hasBegun: false, isReleased: false))

    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    func release() { state.withLock { $0.isReleased = true } }

    func run() {
      state.withLock { $0.hasBegun = true }
      for _ in 0..<Patience.seconds * 100 {
        guard !state.withLock({ $0.isReleased }) else { return }
        usleep(10_000)
      }
    }
  }

  private let clock = ManualClock(Date(timeIntervalSince1970: 1_800_000_000))

  private func start(_ work: Work, _ calls: SignerCalls) -> Task<Void, any Error> {
    Task { try await calls.run { work.run() } }
  }

  private func message(of task: Task<Void, any Error>) async -> String? {
    guard case .failure(KeyServerError.cannotSign(let message)) = await task.result else {
      return nil
    }
    return message
  }

  /// Waits until the work runs and its limit sleeps.
  private func begun(_ work: Work, sleepers: Int = 1) async throws {
    try await Patience.until { work.hasBegun && clock.sleeperCount == sleepers }
  }

  @Test("Calls run one after another, and the limit of each begins with its work")
  func order() async throws {
    let (calls, works) = (SignerCalls(clock: clock), [Work(), Work()])
    defer { for work in works { work.release() } }
    let first = start(works[0], calls)
    try await begun(works[0])
    let second = start(works[1], calls)
    clock.advance(by: KeyServerLimit.signerSeconds * 0.75)
    #expect(!works[1].hasBegun)
    works[0].release()
    try await first.value
    try await begun(works[1])
    clock.advance(by: KeyServerLimit.signerSeconds * 0.75)
    works[1].release()
    try await second.value
  }

  @Test("A cancelled call is not taken for a token that does not respond")
  func cancelled() async throws {
    let (calls, works) = (SignerCalls(clock: clock), [Work(), Work(), Work()])
    defer { for work in works { work.release() } }
    let first = start(works[0], calls)
    try await begun(works[0])
    let second = start(works[1], calls)
    for task in [first, second] {
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    let third = start(works[2], calls)
    works[0].release()
    works[2].release()
    try await third.value
    #expect(!works[1].hasBegun)
  }

  @Test("At the limit the waiting calls end too, and others fail until the work has ended")
  func limit() async throws {
    let (calls, works) = (SignerCalls(clock: clock), (0..<3).map { _ in Work() })
    defer { for work in works { work.release() } }
    let first = start(works[0], calls)
    try await begun(works[0])
    let second = start(works[1], calls)
    clock.advance(by: KeyServerLimit.signerSeconds)
    let text = try #require(await message(of: first))
    #expect(text.contains("does not respond") && text.contains("restart the server"))
    #expect(await message(of: second) == text)
    #expect(await message(of: start(works[2], calls)) == text)
    works[0].release()
    // The thread of the first call ends a moment later.
    try await Patience.until { await calls.isFree }
    #expect(!works[1].hasBegun && !works[2].hasBegun)
  }

  @Test("A caller stops to wait at its own limit, and its call that has not begun does not begin")
  func caller() async throws {
    let (calls, works) = (SignerCalls(clock: clock), (0..<3).map { _ in Work() })
    defer { for work in works { work.release() } }
    let first = start(works[0], calls)
    try await begun(works[0])
    let second = Task { try await calls.run(within: 5) { works[1].run() } }
    try await Patience.until { clock.sleeperCount == 2 }
    clock.advance(by: 5)
    // Nothing is known about the token, which may be busy.
    await #expect(throws: SignerCallsBusy.self) { try await second.value }
    // The others are not stuck: the limit of the call has not passed.
    let third = start(works[2], calls)
    works[0].release()
    works[2].release()
    try await first.value
    try await third.value
    #expect(!works[1].hasBegun)
  }

  @Test("At the limit of its caller a call has no response if it ran, and is busy if it waited")
  func callerOfRunning() async throws {
    for waitSeconds in [0.0, 4] {
      let (calls, works) = (SignerCalls(clock: clock), [Work(), Work()])
      defer { for work in works { work.release() } }
      let first = start(works[0], calls)
      try await begun(works[0])
      let second = Task { try await calls.run(within: 5) { works[1].run() } }
      try await Patience.until { clock.sleeperCount == 2 }
      clock.advance(by: waitSeconds)
      works[0].release()
      try await first.value
      // Its own limit, and that of its caller.
      try await begun(works[1], sleepers: 2)
      clock.advance(by: 5 - waitSeconds)
      if waitSeconds == 0 {
        #expect(await message(of: second)?.contains("does not respond") == true)
      } else {
        await #expect(throws: SignerCallsBusy.self) { try await second.value }
      }
      works[1].release()
      try await Patience.until { await calls.isFree && clock.sleeperCount == 0 }
    }
  }

  @Test("Hung tokens take no threads from tasks, however many there are")
  func threads() async throws {
    let works = (0..<ProcessInfo.processInfo.activeProcessorCount + 4).map { _ in Work() }
    defer { for work in works { work.release() } }
    let tasks = works.map { start($0, SignerCalls(clock: clock)) }
    for work in works { try await begun(work, sleepers: works.count) }
    clock.advance(by: KeyServerLimit.signerSeconds)
    for task in tasks { #expect(await message(of: task) != nil) }
  }
}

extension SignerCalls {
  /// True if a call succeeds.
  fileprivate var isFree: Bool {
    get async { await (try? run { true }) ?? false }
  }
}
