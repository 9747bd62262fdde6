// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import World

@Suite("Folder lock")
struct FolderLockTests {
  private struct WorkFailure: Error, Equatable {}

  private final class Events: Sendable {
    private let names = Mutex<[String]>([])

    var all: [String] { names.withLock { $0 } }
    func append(_ name: String) { names.withLock { $0.append(name) } }
  }

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Returns `true` if another holder would have to wait.
  /// A process that another test forks at this moment shares the lock until it calls exec.
  private func expectReleased() async throws {
    try await Patience.until { !isHeld }
    #expect(!isHeld)
  }

  private var isHeld: Bool {
    let descriptor = open(folder.url.path, O_RDONLY | O_DIRECTORY)
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0
  }

  @Test("The lock is held during the work, its result is returned, and then it is free")
  func held() async throws {
    #expect(try await FolderLock.withLock(on: folder.url) { isHeld })
    try await expectReleased()
    #expect(try FolderLock.withLockBlocking(on: folder.url) { isHeld })
    try await expectReleased()
  }

  @Test("The lock is released if the work throws")
  func failure() async throws {
    await #expect(throws: WorkFailure()) {
      try await FolderLock.withLock(on: folder.url) { throw WorkFailure() }
    }
    try await expectReleased()
    #expect(throws: WorkFailure()) {
      try FolderLock.withLockBlocking(on: folder.url) { throw WorkFailure() }
    }
    try await expectReleased()
  }

  /// Waits until a second holder has opened the folder and waits for the lock.
  private func waitForSecondHolder() async throws {
    try await Patience.until { OpenDescriptors.count(on: folder.url) == 2 }
    #expect(OpenDescriptors.count(on: folder.url) == 2)
  }

  @Test("A second holder waits until the first is done")
  func exclusive() async throws {
    let (events, folder) = (Events(), folder.url)
    let (started, startedContinuation) = AsyncStream.makeStream(of: Void.self)
    let (release, releaseContinuation) = AsyncStream.makeStream(of: Void.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await FolderLock.withLock(on: folder) {
          startedContinuation.finish()
          for await _ in release {}
          events.append("first")
        }
      }
      for await _ in started {}
      group.addTask {
        try await FolderLock.withLock(on: folder) { events.append("second") }
      }
      try await waitForSecondHolder()
      #expect(events.all.isEmpty)
      releaseContinuation.finish()
      try await group.waitForAll()
    }
    #expect(events.all == ["first", "second"])
  }

  @Test("Work on many threads never overlaps")
  func blocking() {
    let inside = Mutex(0)
    let counts = Mutex<[Int]>([])
    DispatchQueue.concurrentPerform(iterations: 20) { _ in
      try? FolderLock.withLockBlocking(on: folder.url) {
        let count = inside.withLock { count in
          count += 1
          return count
        }
        usleep(1_000)
        counts.withLock { $0.append(count) }
        inside.withLock { $0 -= 1 }
      }
    }
    #expect(counts.withLock { $0 } == Array(repeating: 1, count: 20))
  }

  @Test("A task that is cancelled while it waits throws CancellationError and does no work")
  func cancelled() async throws {
    try await FolderLock.withLock(on: folder.url) {
      let waiting = Task {
        try await FolderLock.withLock(on: folder.url) { Issue.record("the lock was held twice") }
      }
      try await waitForSecondHolder()
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
    }
    try await expectReleased()
  }

  @Test("A missing folder is a FileError with ENOENT, a file one with ENOTDIR")
  func missingFolder() async throws {
    let file = folder.path("file")
    try Data().write(to: file)
    for (url, code) in [(folder.path("missing"), ENOENT), (file, ENOTDIR)] {
      let error = await #expect(throws: FileError.self) {
        try await FolderLock.withLock(on: url) { Issue.record("a missing folder was locked") }
      }
      #expect(error?.code == code)
      #expect(error?.operation == .open)
      let blockingError = #expect(throws: FileError.self) {
        try FolderLock.withLockBlocking(on: url) { Issue.record("a missing folder was locked") }
      }
      #expect(blockingError?.code == code)
    }
  }
}
