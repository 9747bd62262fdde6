import Dispatch
import Foundation
import Synchronization

/// A listening Unix domain socket with a file that only its owner may open.
package final class UnixListener: Sendable {
  /// The connections, in the order of their arrival. They end when the iteration is cancelled.
  package let connections: AsyncStream<UnixSocket>

  private let socket: UnixSocket
  private let path: String
  private let source: Mutex<any DispatchSourceRead>

  /// Listens at `path` and replaces a file there, which a killed process left behind.
  ///
  /// The caller holds the lock of the folder, so the old file has no listener.
  package init(at path: String) throws(UnixSocketError) {
    self.path = path
    socket = try UnixSocket.unconnected()
    unlink(path)
    let status = try UnixAddress.file(path).withSocketAddress { [socket] address, size in
      socket.withDescriptor { descriptor in
        // On Linux the file gets the mode of the socket: it is never open to others, not even for a moment.
        fchmod(descriptor, 0o600) == 0 && bind(descriptor, address, size) == 0
          && listen(descriptor, UnixListenerLimit.backlog) == 0
      }
    }
    guard status else { throw UnixSocketError(errno) }
    let (connections, arrival) = AsyncStream.makeStream(
      of: UnixSocket.self, bufferingPolicy: .bufferingOldest(UnixListenerLimit.pendingMax))
    self.connections = connections
    let source = DispatchSource.makeReadSource(
      fileDescriptor: socket.withDescriptor { $0 }, queue: .global())
    source.setEventHandler { [socket] in
      while let connection = Self.accept(on: socket) { arrival.yield(connection) }
    }
    // The source needs the descriptor until then.
    source.setCancelHandler { [socket] in
      withExtendedLifetime(socket) { arrival.finish() }
    }
    source.resume()
    self.source = Mutex(source)
  }

  /// Stops listening and removes the file.
  package func stop() {
    source.withLock { $0.cancel() }
    unlink(path)
  }

  deinit {
    source.withLock { $0.cancel() }
  }

  private static func accept(on socket: UnixSocket) -> UnixSocket? {
    let descriptor = socket.withDescriptor { Foundation.accept($0, nil, nil) }
    return descriptor >= 0 ? UnixSocket(owning: descriptor) : nil
  }
}

/// Limits of a listening socket.
package enum UnixListenerLimit {
  /// The connections that the kernel holds until they are accepted.
  package static let backlog: Int32 = 16
  /// The accepted connections that wait for their turn; further ones are closed.
  package static let pendingMax = 16
}
