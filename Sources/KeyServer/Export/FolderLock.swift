import Foundation

/// The right to change the export folder, which one process has at a time: the server, or the command
/// of an official beside it.
///
/// The system takes it back when the process ends, however it ends: nothing stays locked.
enum FolderLock {
  /// How long to wait before asking again.
  private static let pause = Duration.milliseconds(50)

  /// Does `work` once nobody else changes `folder`.
  ///
  /// - Throws: What `work` throws; `CancellationError` where the task is cancelled while it waits;
  ///   `POSIXError` where the folder cannot be opened.
  static func holding<Result>(
    _ folder: URL, isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> Result
  ) async throws -> Result {
    let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard [EWOULDBLOCK, EINTR].contains(errno) else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
      }
      try await Task.sleep(for: pause)
    }
    return try await work()
  }
}
