import Foundation

/// An exclusive lock on a folder, between processes as well as between tasks of one process.
///
/// The kernel releases it when the process ends, for whatever reason.
package enum FolderLock {
  /// Polling interval of the asynchronous variant.
  private static let pollingInterval = Duration.milliseconds(50)

  /// Runs `work` while holding the lock; suspends until it is free.
  ///
  /// - Throws: The error of `work`; `CancellationError` if the task is cancelled while it waits;
  ///   `FileError` if the folder cannot be opened.
  package static func withLock<Result>(
    on folder: URL, isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> Result
  ) async throws -> Result {
    let descriptor = try open(folder)
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard [EWOULDBLOCK, EINTR].contains(errno) else { throw FileError(.lock, folder) }
      try await Task.sleep(for: pollingInterval)
    }
    return try await work()
  }

  /// Runs `work` while holding the lock; blocks the calling thread until it is free.
  ///
  /// - Throws: The error of `work`; `FileError` if the folder cannot be opened.
  package static func withLockBlocking<Result>(
    on folder: URL, _ work: () throws -> Result
  ) throws -> Result {
    let descriptor = try open(folder)
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw FileError(.lock, folder) }
    }
    return try work()
  }

  /// Takes the lock for as long as the returned object lives; `nil` if it is held elsewhere.
  ///
  /// - Throws: `FileError` if the folder cannot be opened.
  package static func hold(on folder: URL) throws(FileError) -> HeldFolderLock? {
    let lock = HeldFolderLock(descriptor: try open(folder))
    while flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return nil }
      guard errno == EINTR else { throw FileError(.lock, folder) }
    }
    return lock
  }

  private static func open(_ folder: URL) throws(FileError) -> Int32 {
    let descriptor = Foundation.open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError(.open, folder) }
    return descriptor
  }
}

/// A lock on a folder, released when the object is deallocated or the process ends.
package final class HeldFolderLock: Sendable {
  fileprivate let descriptor: Int32

  fileprivate init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }
}
