// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A Unix domain socket in a file that receives datagrams, such as those for syslog and systemd.
public final class DatagramReceiver: Sendable {
  private static let bytesMax = 64 << 10

  private let descriptor: Int32

  /// Binds a socket to `path`, which must be short.
  public init(path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(100)) }
    let length = socklen_t(MemoryLayout.size(ofValue: address))
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    guard result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
  }

  deinit { close(descriptor) }

  /// The next datagram as text, or `nil` if none is in the queue.
  public func next() -> String? {
    var bytes = [UInt8](repeating: 0, count: Self.bytesMax)
    let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// All datagrams in the queue as text.
  public func all() -> [String] {
    var texts: [String] = []
    while let text = next() { texts.append(text) }
    return texts
  }
}
