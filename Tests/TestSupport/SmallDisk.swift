// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A small memory file system, for tests with a full disk.
///
/// Mounting it needs root permissions. Tests that use it have the trait `.needs(.smallDisk)`.
public final class SmallDisk: Sendable {
  /// True if this process may mount file systems.
  static let isAvailable = geteuid() == 0

  /// The mount point.
  public let url: URL
  private let folder: TemporaryFolder

  /// Mounts a file system of `bytes` bytes.
  public init(bytes: Int) throws {
    TestNeed.requireDeclaration(of: .smallDisk)
    folder = try TemporaryFolder()
    url = folder.path("disk")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let result = mount("tmpfs", url.path, "tmpfs", 0, "size=\(bytes)")
    guard result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EPERM) }
  }

  deinit {
    umount2(url.path, Int32(MNT_DETACH))
  }

  /// The request of `chattr`: FS_IOC_SETFLAGS of linux/fs.h.
  private static let setFlags: UInt = 0x4008_6602
  /// The flag of `chattr +a`: FS_APPEND_FL.
  private static let appendOnly: CInt = 0x20

  /// Makes a file of this file system append-only, as `chattr +a` does: it can be neither truncated nor removed.
  /// In memory that needs Linux 6.0.
  public func makeAppendOnly(_ file: URL) throws {
    let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var flags = Self.appendOnly
    guard descriptor >= 0, ioctl(descriptor, Self.setFlags, &flags) == 0 else {
      throw POSIXError(.init(rawValue: errno) ?? .EPERM)
    }
  }

  /// Fills the file system with a file and returns it; removing the file frees the space.
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
