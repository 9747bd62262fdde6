import Foundation

/// A file that is being downloaded: written piece by piece, on the disk when it is finished.
final class DownloadFile {
  private let file: Int32

  /// Makes the file, for its owner only; what was there is gone.
  init(at url: URL) throws(NetworkFailure) {
    file = open(url.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Self.failure() }
  }

  deinit {
    close(file)
  }

  /// Adds `bytes`.
  func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Foundation.write(
        file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      guard count > 0 else { throw Self.failure() }
      rest = rest.dropFirst(count)
    }
  }

  /// Returns when everything is on the disk.
  func finish() throws(NetworkFailure) {
    guard fsync(file) == 0 else { throw Self.failure() }
  }

  private static func failure() -> NetworkFailure {
    [ENOSPC, EDQUOT, EFBIG].contains(errno) ? .diskFull : .disk
  }
}
