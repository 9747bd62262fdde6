// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The address of a Unix domain socket.
package enum UnixAddress: Hashable, Sendable {
  /// A file.
  case file(String)
  /// A name in the kernel's table, as some D-Bus daemons use it.
  case abstract([UInt8])

  /// The space for a path with its final zero, in bytes.
  private static let pathBytesMax = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

  /// Runs `work` with the address in the system's form.
  ///
  /// A path that is too long for it is reached through a descriptor of its folder.
  func withSocketAddress<Result>(
    _ work: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) throws(UnixSocketError) -> Result {
    switch self {
    case .abstract(let name): return try Self.with([0] + name, work)
    case .file(let path):
      guard path.utf8.count >= Self.pathBytesMax else {
        return try Self.with(path.utf8 + [0], work)
      }
      let file = URL(fileURLWithPath: path)
      let folder = open(file.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard folder >= 0 else { throw UnixSocketError(errno) }
      defer { close(folder) }
      return try Self.with("/proc/self/fd/\(folder)/\(file.lastPathComponent)".utf8 + [0], work)
    }
  }

  private static func with<Result>(
    _ path: [UInt8], _ work: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) throws(UnixSocketError) -> Result {
    guard path.count <= pathBytesMax else { throw UnixSocketError(ENAMETOOLONG) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let count = MemoryLayout.size(ofValue: address.sun_family) + path.count
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { work($0, socklen_t(count)) }
    }
  }
}
