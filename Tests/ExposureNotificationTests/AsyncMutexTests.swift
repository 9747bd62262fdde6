// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing

@testable import ExposureNotification

@Suite("Mutex for asynchronous work") struct AsyncMutexTests {
  private let mutex = AsyncMutex()

  @Test("A mutex keeps a task only while work runs, also if the work fails")
  func idle() async throws {
    let mutex = mutex
    #expect(try await !mutex.withLock { await mutex.isIdle })
    #expect(await mutex.isIdle)
    await #expect(throws: CancellationError.self) {
      try await mutex.withLock { () async throws -> Void in throw CancellationError() }
    }
    #expect(await mutex.isIdle)
  }

  @Test("Work of many callers never overlaps, and the mutex is idle when all has ended")
  func exclusion() async throws {
    let mutex = mutex
    let running = Mutex(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<50 {
        group.addTask {
          for _ in 0..<4 {
            try await mutex.withLock {
              let count = running.withLock { count -> Int in
                count += 1
                return count
              }
              #expect(count == 1)
              await Task.yield()
              running.withLock { $0 -= 1 }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(await mutex.isIdle)
  }
}
