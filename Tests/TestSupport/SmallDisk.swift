import Foundation

/// A real file system of very few bytes, to see what happens when a disk is full.
///
/// It is a memory file system that the kernel enforces, not a thrown mock. Mounting one needs root;
/// where the tests do not run as root, `isAvailable` is false and the tests that need it are skipped.
public final class SmallDisk: Sendable {
  /// Whether this process may mount one.
  public static let isAvailable = geteuid() == 0
  /// Why a test was skipped.
  public static let absence = "needs root to mount a small file system"

  /// Where it is mounted.
  public let url: URL
  private let folder: TemporaryFolder

  /// Mounts a file system that holds `bytes`.
  public init(bytes: Int) throws {
    folder = try TemporaryFolder()
    url = folder.path("disk")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let result = mount("tmpfs", url.path, "tmpfs", 0, "size=\(bytes)")
    guard result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EPERM) }
  }

  deinit {
    umount2(url.path, Int32(MNT_DETACH))
  }

  /// Fills what is left; returns the file that holds the space, to be removed to make room again.
  public func fill() -> URL {
    let ballast = url.appendingPathComponent("ballast")
    let file = open(ballast.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(file) }
    for size in [4096, 512, 1] {
      let block = [UInt8](repeating: 0, count: size)
      while write(file, block, size) == size {}
    }
    return ballast
  }
}
