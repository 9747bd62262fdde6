// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Secrets

/// A connected Unix domain socket. Every transfer ends at a deadline.
///
/// The functions that transfer bytes block their thread until then; `offThread` runs them elsewhere.
package final class UnixSocket: Sendable {
  private let descriptor: Int32

  /// Takes over an open descriptor and closes it at the end.
  init(owning descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }

  /// Connects to the listener at `address`.
  package static func connected(to address: UnixAddress) throws(UnixSocketError) -> UnixSocket {
    let socket = try unconnected()
    let status = try address.withSocketAddress { connect(socket.descriptor, $0, $1) }
    guard status == 0 else { throw UnixSocketError(errno) }
    return socket
  }

  /// A socket without a peer.
  static func unconnected() throws(UnixSocketError) -> UnixSocket {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw UnixSocketError(errno) }
    return UnixSocket(owning: descriptor)
  }

  /// Runs `work` with the descriptor.
  package func withDescriptor<Result>(_ work: (Int32) -> Result) -> Result { work(descriptor) }

  /// The user ID of the peer when it connected; `nil` if the system does not report it.
  package var peerUser: uid_t? {
    // The kernel's `struct ucred`: process, user, group.
    var credentials: [UInt32] = [0, 0, 0]
    var size = socklen_t(credentials.count * MemoryLayout<UInt32>.size)
    let status = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
    return status == 0 ? credentials[1] : nil
  }
}

extension UnixSocket {
  /// Sends all of `bytes`.
  package func send(
    _ bytes: [UInt8], before deadline: ContinuousClock.Instant
  ) throws {
    try bytes.withUnsafeBytes { try send($0, before: deadline) }
  }

  /// Sends all of `bytes`, without a copy of them.
  package func send(
    _ bytes: UnsafeRawBufferPointer, before deadline: ContinuousClock.Instant
  ) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      try wait(for: POLLOUT, before: deadline)
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let count = Foundation.send(
        descriptor, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
      if count < 0, [EAGAIN, EINTR].contains(errno) { continue }
      guard count > 0 else { throw UnixSocketError(errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// True if bytes have arrived, or if the peer has closed the connection.
  package var hasInput: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
  }

  /// Receives at least one byte and at most `countMax`; nothing only if the peer has closed the connection.
  package func receive(
    atMost countMax: Int, before deadline: ContinuousClock.Instant
  ) throws(UnixSocketError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: countMax)
    // The bytes may hold a PIN.
    defer { buffer.zero() }
    while true {
      try wait(for: POLLIN, before: deadline)
      let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      if count < 0, [EAGAIN, EINTR].contains(errno) { continue }
      guard count >= 0 else { throw UnixSocketError(errno) }
      return Array(buffer.prefix(count))
    }
  }

  /// Receives exactly `count` bytes.
  package func receive(
    exactly count: Int, before deadline: ContinuousClock.Instant
  ) throws(UnixSocketError) -> [UInt8] {
    var bytes: [UInt8] = []
    // No growth leaves a copy behind.
    bytes.reserveCapacity(count)
    while bytes.count < count {
      var part = try receive(atMost: count - bytes.count, before: deadline)
      defer { part.zero() }
      guard !part.isEmpty else {
        bytes.zero()
        throw .closed
      }
      bytes += part
    }
    return bytes
  }

  private func wait(
    for events: Int32, before deadline: ContinuousClock.Instant
  ) throws(UnixSocketError) {
    while true {
      let remaining = deadline - .now
      guard remaining > .zero else { throw .timedOut }
      var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
      // Rounded up, so that the last poll is not followed by a busy one.
      let milliseconds = Int64((remaining / .milliseconds(1)).rounded(.up))
      if poll(&entry, 1, Int32(clamping: milliseconds)) > 0 { return }
    }
  }
}

extension UnixSocket {
  /// Runs blocking `work` on an additional thread.
  package static func offThread<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { done in
      // A global queue has as many threads as the machine has cores, and tasks share them. A serial queue
      // gets a thread in addition.
      DispatchQueue(label: "UnixSocket").async { done.resume(with: Result { try work() }) }
    }
  }
}

/// The reason why a transfer over a Unix domain socket failed.
package enum UnixSocketError: Error, Hashable, Sendable {
  /// There is no socket, or its process has ended.
  case noListener
  /// The deadline has passed.
  case timedOut
  /// The peer closed the connection before the end of a message.
  case closed
  /// Another error of the system; the value is `errno`.
  case system(Int32)

  init(_ code: Int32) {
    self =
      switch code {
      case ENOENT, ECONNREFUSED: .noListener
      case EPIPE, ECONNRESET: .closed
      default: .system(code)
      }
  }
}
