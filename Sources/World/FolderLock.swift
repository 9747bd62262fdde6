// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An exclusive lock on a folder, between processes as well as between tasks of one process.
///
/// The kernel releases it when the process ends, also after a crash.
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
    defer { release(descriptor) }
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
    defer { release(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw FileError(.lock, folder) }
    }
    return try work()
  }

  /// Takes the lock for as long as the returned object lives; `nil` if it is held elsewhere.
  ///
  /// - Throws: `FileError` if the folder cannot be opened.
  package static func hold(on folder: URL) throws(FileError) -> HeldFolderLock? {
    try hold(HeldFolderLock(descriptor: try open(folder)), folder)
  }

  private static func hold(
    _ lock: HeldFolderLock, _ url: URL
  ) throws(FileError) -> HeldFolderLock? {
    while flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return nil }
      guard errno == EINTR else { throw FileError(.lock, url) }
    }
    return lock
  }

  /// The same for a file, which is created with mode 0600 if it is missing, so that others may lock its folder.
  ///
  /// - Throws: `FileError` if the file cannot be opened or created.
  package static func hold(onFile file: URL) throws(FileError) -> HeldFolderLock? {
    let descriptor = Foundation.open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileError(.open, file) }
    return try hold(HeldFolderLock(descriptor: descriptor), file)
  }

  /// Ends the lock of `descriptor`, if there is one, and closes it.
  ///
  /// A child process has a copy of the descriptor between its fork and its exec, and would keep the lock so long.
  fileprivate static func release(_ descriptor: Int32) {
    flock(descriptor, LOCK_UN)
    close(descriptor)
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

  /// Returns `true` if `folder` is still the locked folder: it was not moved away, removed or replaced since.
  ///
  /// The lock belongs to the folder that had the path when it was taken, not to the path.
  package func isOn(_ folder: URL) -> Bool {
    var (locked, current) = (stat(), stat())
    return fstat(descriptor, &locked) == 0 && stat(folder.path, &current) == 0
      && locked.st_dev == current.st_dev && locked.st_ino == current.st_ino
  }

  deinit {
    FolderLock.release(descriptor)
  }
}
