// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A listening socket that was open when the process started: systemd opened it, and keeps it open across restarts.
public struct InheritedSocket: Sendable, Hashable {
  /// The descriptor, which stays open until the process ends.
  public let descriptor: Int32
  /// The numeric address that it listens on.
  public let host: String
  /// The port that it listens on.
  public let port: Int

  /// The reason why a descriptor cannot be used.
  public enum Fault: Error, Sendable, Hashable {
    /// It is not open.
    case closed
    /// It is not a stream socket of IPv4 or IPv6 that listens.
    case notListening
  }

  /// Examines a descriptor. It is not passed on to programs that this one starts.
  public init(descriptor: Int32) throws(Fault) {
    guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw .closed }
    guard Self.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue),
      Self.option(SO_ACCEPTCONN, of: descriptor) == 1,
      let (host, port) = Self.address(of: descriptor)
    else { throw .notListening }
    (self.descriptor, self.host, self.port) = (descriptor, host, port)
  }

  private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
    var (value, size): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
  }

  private static func address(of descriptor: Int32) -> (host: String, port: Int)? {
    var (storage, size) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
    var host = [UInt8](repeating: 0, count: Int(NI_MAXHOST))
    var port = [UInt8](repeating: 0, count: Int(NI_MAXSERV))
    let isNamed = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        host.withUnsafeMutableBytes { host in
          port.withUnsafeMutableBytes { port in
            getsockname(descriptor, address, &size) == 0
              && [sa_family_t(AF_INET), sa_family_t(AF_INET6)].contains(address.pointee.sa_family)
              && getnameinfo(
                address, size, host.bindMemory(to: CChar.self).baseAddress, socklen_t(host.count),
                port.bindMemory(to: CChar.self).baseAddress, socklen_t(port.count),
                NI_NUMERICHOST | NI_NUMERICSERV) == 0
          }
        }
      }
    }
    guard isNamed, let number = Int(String(decoding: port.prefix { $0 != 0 }, as: UTF8.self)) else {
      return nil
    }
    return (String(decoding: host.prefix { $0 != 0 }, as: UTF8.self), number)
  }
}

/// The inherited sockets of this process. A server whose address is that of one of them uses it, and binds none.
public enum InheritedSockets {
  private static let sockets = Mutex<[InheritedSocket]>([])

  /// Lets servers use these sockets from now on.
  public static func use(_ inherited: [InheritedSocket]) { sockets.withLock { $0 = inherited } }

  /// A copy of the descriptor that listens on this address; nil if there is none. The copy may be closed: the socket
  /// goes on listening, so that connections wait for the next server.
  ///
  /// - Throws: `POSIXError` if the process has too many open files: another socket could not be bound to the address.
  static func copy(host: String, port: Int) throws(POSIXError) -> Int32? {
    let found = sockets.withLock { $0.first { $0.host == host && $0.port == port } }
    guard let found else { return nil }
    let copy = fcntl(found.descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE) }
    return copy
  }
}
