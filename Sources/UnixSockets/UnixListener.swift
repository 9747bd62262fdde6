// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization

/// A listening Unix domain socket with a file that only its owner may open.
package final class UnixListener: Sendable {
  /// The connections, in the order of their arrival. They end when the iteration is cancelled.
  package let connections: AsyncStream<UnixSocket>

  private let path: String
  private let arrival: AsyncStream<UnixSocket>.Continuation
  /// The current socket; `nil` after `stop()`.
  private let bound: Mutex<Bound?>

  /// Listens at `path` and replaces a file there, which a killed process left behind.
  ///
  /// The caller holds the lock of the folder, so the old file has no listener.
  package init(at path: String) throws(UnixSocketError) {
    self.path = path
    (connections, arrival) = AsyncStream.makeStream(
      of: UnixSocket.self, bufferingPolicy: .bufferingOldest(UnixListenerLimit.pendingMax))
    bound = Mutex(try Bound(at: path, arrival))
  }

  /// Listens at the path again if its file was removed or replaced. Connections in progress go on.
  ///
  /// - Returns: `true` if it was.
  /// - Throws: `UnixSocketError` if the file cannot be made.
  package func restore() throws(UnixSocketError) -> Bool {
    try bound.withLock { bound throws(UnixSocketError) in
      guard let current = bound, current.file != FileIdentity(path) else { return false }
      bound = try Bound(at: path, arrival)
      current.source.cancel()
      return true
    }
  }

  /// Stops listening and removes the file, unless it is that of another process.
  package func stop() {
    bound.withLock { bound in
      guard let current = bound else { return }
      current.source.cancel()
      if current.file == FileIdentity(path) { unlink(path) }
      bound = nil
    }
    arrival.finish()
  }

  deinit {
    bound.withLock { $0?.source.cancel() }
    arrival.finish()
  }
}

/// A socket that is bound to a file, and the source of its connections.
private struct Bound {
  let source: any DispatchSourceRead
  let file: FileIdentity?

  init(
    at path: String, _ arrival: AsyncStream<UnixSocket>.Continuation
  ) throws(UnixSocketError) {
    let socket = try UnixSocket.unconnected()
    unlink(path)
    let status = try UnixAddress.file(path).withSocketAddress { address, size in
      socket.withDescriptor { descriptor in
        // On Linux the file gets the mode of the socket: it is never open to others, not even for a moment.
        fchmod(descriptor, 0o600) == 0 && bind(descriptor, address, size) == 0
          && listen(descriptor, UnixListenerLimit.backlog) == 0
      }
    }
    guard status else { throw UnixSocketError(errno) }
    file = FileIdentity(path)
    source = DispatchSource.makeReadSource(
      fileDescriptor: socket.withDescriptor { $0 }, queue: .global())
    source.setEventHandler {
      while let connection = Self.accept(on: socket) { arrival.yield(connection) }
    }
    // The source needs the descriptor until then.
    source.setCancelHandler { withExtendedLifetime(socket) {} }
    source.resume()
  }

  private static func accept(on socket: UnixSocket) -> UnixSocket? {
    let descriptor = socket.withDescriptor { Foundation.accept($0, nil, nil) }
    return descriptor >= 0 ? UnixSocket(owning: descriptor) : nil
  }
}

/// The device and inode of the file at a path.
private struct FileIdentity: Equatable {
  private let device: UInt64
  private let number: UInt64

  /// - Returns: `nil` if there is no file.
  init?(_ path: String) {
    var facts = stat()
    guard lstat(path, &facts) == 0 else { return nil }
    (device, number) = (UInt64(facts.st_dev), UInt64(facts.st_ino))
  }
}

/// Limits of a listening socket.
package enum UnixListenerLimit {
  /// The connections that the kernel holds until they are accepted.
  package static let backlog: Int32 = 16
  /// The accepted connections that wait for their turn; further ones are closed.
  package static let pendingMax = 16
}
