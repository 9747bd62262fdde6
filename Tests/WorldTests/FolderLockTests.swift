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

  /// True if another holder would have to wait.
  private var isHeld: Bool {
    let descriptor = open(folder.url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer {
      flock(descriptor, LOCK_UN)
      close(descriptor)
    }
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0
  }

  /// Copies the descriptors on the folder, as the fork of a child process does.
  private func copyOfDescriptors() -> [Int32] {
    OpenDescriptors.numbers(on: folder.url).map { fcntl($0, F_DUPFD_CLOEXEC, 0) }
  }

  @Test("A child process that was forked while the lock was held does not keep it")
  func forkedMeanwhile() async throws {
    var copies: [Int32] = []
    defer { for copy in copies { close(copy) } }
    try await FolderLock.withLock(on: folder.url) { copies += copyOfDescriptors() }
    #expect(copies.count == 1 && !isHeld)
    try FolderLock.withLockBlocking(on: folder.url) { copies += copyOfDescriptors() }
    #expect(copies.count == 3 && !isHeld)
    for file in [nil, folder.path("lock")] {
      var lock = try file.map { try FolderLock.hold(onFile: $0) } ?? FolderLock.hold(on: folder.url)
      #expect(lock != nil)
      copies += OpenDescriptors.numbers(on: file ?? folder.url).map {
        fcntl($0, F_DUPFD_CLOEXEC, 0)
      }
      lock = nil
      let again =
        try file.map { try FolderLock.hold(onFile: $0) } ?? FolderLock.hold(on: folder.url)
      #expect(again != nil)
    }
  }

  @Test("The lock is held during the work, its result is returned, and then it is free")
  func held() async throws {
    #expect(try await FolderLock.withLock(on: folder.url) { isHeld })
    #expect(!isHeld)
    #expect(try FolderLock.withLockBlocking(on: folder.url) { isHeld })
    #expect(!isHeld)
  }

  @Test("The lock is released if the work throws")
  func failure() async throws {
    await #expect(throws: WorkFailure()) {
      try await FolderLock.withLock(on: folder.url) { throw WorkFailure() }
    }
    #expect(!isHeld)
    #expect(throws: WorkFailure()) {
      try FolderLock.withLockBlocking(on: folder.url) { throw WorkFailure() }
    }
    #expect(!isHeld)
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
    #expect(!isHeld)
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
