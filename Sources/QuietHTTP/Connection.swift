// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import NIOCore
import Synchronization
import TextEncodings

/// The connection of one request.
///
/// Socket timeouts use the system's clock, not the injected one: a simulation that skips a day must
/// not cut off requests in progress.
final class Connection: Sendable {
  /// The identity of the connection while it is open.
  let id: ObjectIdentifier
  /// The address of the peer, which is the client or a proxy.
  let peer: NumericAddress?
  /// Both ends of the connection.
  let endpoints: LocalPeer.Endpoints?
  /// The user of the peer's socket, if it is on this machine.
  private let findUser: @Sendable () -> UInt32?
  private let schedule: @Sendable (_ seconds: Int, _ action: @escaping @Sendable () -> Void) -> Void
  private let stopListening: @Sendable () -> Void
  private let closeNow: @Sendable () -> Void
  private let announceBody: @Sendable () -> Void
  private let passEventLoop: @Sendable () async throws -> Void
  private let progress = Mutex(Progress())

  private struct Progress {
    var bodyIsRead = false
    var timeIsUp = false
    /// The number of the timeout that runs.
    var timeout: Int?
  }

  init(_ source: ApplicationRequestContextSource) {
    let channel = source.channel
    id = ObjectIdentifier(channel)
    peer = NumericAddress(channel.remoteAddress)
    let ends = LocalPeer.Endpoints(local: channel.localAddress, remote: channel.remoteAddress)
    endpoints = ends
    findUser = { ends.flatMap { Self.userID(of: $0, channel) } }
    schedule = { seconds, action in
      _ = channel.eventLoop.scheduleTask(in: .seconds(Int64(seconds)), action)
    }
    stopListening = { channel.close(mode: .input, promise: nil) }
    closeNow = { channel.close(mode: .all, promise: nil) }
    announceBody = { channel.triggerUserOutboundEvent(RequestHeads.ReadsBody(), promise: nil) }
    passEventLoop = { try await channel.eventLoop.submit {}.get() }
  }

  /// The user whose process has opened this connection; nil if the system does not report it.
  var userID: UInt32? { findUser() }

  private static func userID(of ends: LocalPeer.Endpoints, _ channel: any Channel) -> UInt32? {
    PeerUsers.ofProcess.user(of: ObjectIdentifier(channel)) {
      LocalPeer.userID(of: ends)
    } atClose: { forget in
      // Until then, the channel keeps its identity.
      channel.closeFuture.whenComplete { _ in withExtendedLifetime(channel) { forget() } }
    }
  }

  /// True if the whole body was read, so that the connection can be used for the next request.
  var bodyIsRead: Bool { progress.withLock { $0.bodyIsRead } }

  /// Tells a client that waits for `100 Continue` to send the body.
  func continueBody() { announceBody() }

  /// Runs `read` and stops receiving from the peer after `seconds`, or earlier if the body arrives too slowly.
  ///
  /// - Parameters:
  ///   - client: The client, for the limit of its network.
  ///   - read: Reads the body, and passes the number of the bytes of each part.
  /// - Returns: The result of `read`, or nil after a timeout.
  func reading<Value>(
    within seconds: Int, _ timeouts: BodyTimeouts, of client: NumericAddress?,
    in bodies: UnfinishedBodies, _ read: (_ received: (Int) -> Void) async throws -> Value
  ) async throws -> Value? {
    let number = bodies.begin(client, close: closeNow)
    defer { bodies.end(number) }
    let youth = timeouts.begin(seconds: UnfinishedBodies.youthSeconds) { bodies.trim(number) }
    defer { timeouts.end(youth) }
    scheduleCheck(of: number, in: bodies, timeouts, secondsLeft: seconds)
    defer { if let timeout = progress.withLock({ $0.timeout }) { timeouts.end(timeout) } }
    do {
      let value = try await read { bodies.received($0, number) }
      guard !timeIsUp else { return nil }
      progress.withLock { $0.bodyIsRead = true }
      return value
    } catch  where timeIsUp {
      return nil
    }
  }

  /// Checks the rate of the body again and again until its time is up.
  private func scheduleCheck(
    of number: Int, in bodies: UnfinishedBodies, _ timeouts: BodyTimeouts, secondsLeft: Int
  ) {
    let seconds = min(bodies.limits.checkSeconds, secondsLeft)
    let timeout = timeouts.begin(seconds: seconds) { [self] in
      // The body may have ended while the timeout fired, and another request may have begun.
      guard bodies.isUnfinished(number) else { return }
      let isFullPeriod = seconds == bodies.limits.checkSeconds
      if secondsLeft > seconds, !(isFullPeriod && bodies.isTooSlow(number)) {
        return scheduleCheck(
          of: number, in: bodies, timeouts, secondsLeft: secondsLeft - seconds)
      }
      progress.withLock { $0.timeIsUp = true }
      stopListening()
    }
    progress.withLock { $0.timeout = timeout }
  }

  /// Closes the connection after `seconds`, even if the peer is still sending.
  func close(after seconds: Int) {
    schedule(seconds, closeNow)
  }

  /// Waits until everything that was written has been passed to the channel.
  ///
  /// While the event loop is busy, a writer does not apply backpressure and could fill the memory.
  func passWrites() async throws {
    try await passEventLoop()
  }

  private var timeIsUp: Bool { progress.withLock { $0.timeIsUp } }
}

extension QuietContext {
  /// The user whose process has opened this connection; nil if it came from another machine, or the system does
  /// not report it.
  ///
  /// This reveals the user and not the address.
  package var peerUserID: UInt32? { connection.userID }

  /// True if the request names this server as its host: one of `names`, `localhost`, or the address of this end of
  /// the connection. Another name may belong to an attacker, who lets it resolve to this server (DNS rebinding).
  ///
  /// - Parameter names: Hosts with their ports, such as `console.example` or `localhost:8082`, in lower case.
  package func isNamed(_ host: String?, names: Set<String>) -> Bool {
    guard let host = host?.lowercased() else { return false }
    if names.contains(host) { return true }
    // The port may be that of a tunnel.
    let name =
      host.hasPrefix("[")
      ? host.dropFirst().prefix { $0 != "]" } : host.prefix { $0 != ":" }
    let own = NumericAddress(connection.endpoints?.local)
    return NumericAddress(name).map { $0 == own } ?? (name == "localhost")
  }

  /// The network of the client for an audit log: 24 bits of IPv4, 48 of IPv6. It has many users.
  package var networkName: String { client.map(NumericAddress.networkName(of:)) ?? "unknown" }

  /// The port of this server to which the client has connected.
  package var serverPort: Int? { connection.endpoints?.local.port }
}

/// The owner of the other end of a connection on this machine, according to the kernel's tables of sockets.
enum LocalPeer {
  /// The two ends of a connection, as this process sees them.
  struct Endpoints: Sendable {
    let local: SocketAddress
    let remote: SocketAddress

    init?(local: SocketAddress?, remote: SocketAddress?) {
      guard let local, let remote else { return nil }
      self.local = local
      self.remote = remote
    }
  }

  private static let tables = ["/proc/net/tcp", "/proc/net/tcp6"]

  static func userID(of endpoints: Endpoints) -> UInt32? {
    // A table is read in several steps, between which rows may move.
    for _ in 0..<QuietLimit.socketTableReads {
      for path in tables {
        guard let file = FileHandle(forReadingAtPath: path) else { continue }
        // A table that cannot be read has no row of the connection.
        guard let table = try? file.readToEnd() else { continue }
        if let user = userID(of: endpoints, in: table) { return user }
      }
    }
    return nil
  }

  /// The user in the row of `table` (proc_pid_net(5)) for the client's socket: its local end is our remote one.
  ///
  /// Only an established connection counts: the kernel names user 0 for sockets that their process has closed.
  static func userID(of endpoints: Endpoints, in table: Data) -> UInt32? {
    let (clients, servers) = (names(of: endpoints.remote), names(of: endpoints.local))
    // A table can have thousands of rows: only the one that is found is split into fields.
    for (client, server) in zip(clients, servers) {
      let start = Data(" \(client) \(server) \(established) ".utf8)
      guard let row = table.range(of: start) else { continue }
      let rest = String(decoding: table[row.upperBound...].prefix { $0 != lineFeed }, as: UTF8.self)
      // The fields after the state: the queues, the timer, the retransmits, the user.
      let fields = rest.split(separator: " ")
      return fields.count > 3 ? UInt32(fields[3]) : nil
    }
    return nil
  }

  private static let established = "01"
  private static let lineFeed = UInt8(ascii: "\n")

  /// The names of `address` in the tables. The client of an IPv4 connection may use a socket of IPv6.
  private static func names(of address: SocketAddress) -> [String] {
    guard let bytes = NumericAddress(address)?.bytes, let port = address.port else { return [] }
    let suffix = ":" + hex(UInt16(truncatingIfNeeded: port))
    let ip = words(bytes).map { hex($0) }.joined()
    guard bytes.count == 4 else { return [ip + suffix] }
    let mapping = words(NumericAddress.mapped).map { hex($0) }.joined()
    return [ip + suffix, mapping + ip + suffix]
  }

  /// The words of an address in memory; the tables show each as a number of this machine.
  private static func words(_ bytes: [UInt8]) -> [UInt32] {
    bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
  }

  private static func hex(_ number: some FixedWidthInteger) -> String {
    withUnsafeBytes(of: number.bigEndian) { $0.hexadecimal.uppercased() }
  }
}
