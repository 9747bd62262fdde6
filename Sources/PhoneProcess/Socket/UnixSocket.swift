// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Secrets
import Synchronization

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
  func withDescriptor<Result>(_ work: (Int32) -> Result) -> Result { work(descriptor) }

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
  func send(
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

/// The reason why a transfer over a Unix domain socket failed.
package enum UnixSocketError: Error, Hashable, Sendable {
  /// There is no socket, or its process has ended.
  case noListener
  /// The deadline has passed.
  case timedOut
  /// The peer closed the connection before the end of a message.
  case closed
  /// The request is longer than its limit.
  case tooLong
  /// The reply is not of the expected form or longer than its limit.
  case unreadable
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
