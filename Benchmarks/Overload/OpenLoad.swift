// SPDX-License-Identifier: Apache-2.0
import Bench
import Foundation
import NIOCore

/// An open loop: each upload is sent when it is due, however many responses are missing.
///
/// An upload is sent over an idle keep-alive connection, as by a reverse proxy, or over a new one. One task handles all
/// sockets with `poll`, because the generator shares the cores with the server.
final class OpenLoad {
  /// The response to one upload.
  struct Outcome: Sendable {
    /// The status; nil without a response.
    let status: Int?
    let hasRetryAfter: Bool
    /// The time from the moment at which the upload was due to the end of the response.
    let time: Duration
    /// The end of the response, from the beginning of the load.
    let sinceStart: Duration
  }

  private struct Connection {
    /// The index of the upload without a response; nil if there is none.
    var upload: Int?
    var unsent: ArraySlice<UInt8> = []
    var received: [UInt8] = []
    /// True if the server has sent a response before.
    var isReused = false
  }

  private let target: PublishTarget
  private let uploads: [PreparedUpload]
  private let interval: Duration
  private var start = ContinuousClock.now
  private var next = 0
  private var connections: [Int32: Connection] = [:]
  private var waiting: [Int32] = []
  private var opened = 0
  private var outcomes: [Outcome] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// The timeout of the last responses.
  private static let timeout = Duration.seconds(60)
  /// The interval at which sockets are polled, which costs the same for one event as for many.
  private static let tick = Duration.milliseconds(1)
  /// The number of connections from one source address. A server closes further ones.
  private static let connectionsPerAddress = 200

  private init(_ target: PublishTarget, rate: Double, _ uploads: [PreparedUpload]) {
    self.target = target
    self.uploads = uploads
    interval = .seconds(1 / rate)
  }

  deinit {
    for socket in connections.keys { close(socket) }
  }

  /// Sends the uploads at `rate` per second. Returns when each has a response or has failed.
  static func send(
    _ uploads: [PreparedUpload], to target: PublishTarget, rate: Double
  ) async -> [Outcome] {
    await OpenLoad(target, rate: rate, uploads).run()
  }

  private func run() async -> [Outcome] {
    start = .now
    let end = due(uploads.count) + Self.timeout
    while outcomes.count < uploads.count, .now < end {
      while next < uploads.count, due(next) <= .now {
        send(next, mayReuse: true)
        next += 1
      }
      // A cancelled load ends with the uploads that are due.
      try? await Task.sleep(for: Self.tick)
      for socket in readySockets() { advance(socket) }
    }
    while outcomes.count < uploads.count { record(nil, due: due(0)) }
    return outcomes
  }

  /// The sockets that wait for a response and can send or receive.
  private func readySockets() -> [Int32] {
    var states = connections.filter { $0.value.upload != nil }.map { socket, connection in
      let wanted = POLLIN | (connection.unsent.isEmpty ? 0 : POLLOUT)
      return pollfd(fd: socket, events: Int16(wanted), revents: 0)
    }
    guard poll(&states, nfds_t(states.count), 0) > 0 else { return [] }
    return states.filter { $0.revents != 0 }.map(\.fd)
  }

  private func due(_ number: Int) -> ContinuousClock.Instant { start + interval * number }

  private func send(_ upload: Int, mayReuse: Bool) {
    guard let socket = mayReuse ? waitingConnection() ?? open() : open() else {
      return record(nil, due: due(upload))
    }
    connections[socket]?.upload = upload
    connections[socket]?.unsent = request(uploads[upload])[...]
    advance(socket)
  }

  private func waitingConnection() -> Int32? {
    while let socket = waiting.popLast() {
      if let connection = connections[socket], connection.upload == nil { return socket }
    }
    return nil
  }

  private func open() -> Int32? {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard socket >= 0 else { return nil }
    let number = opened / Self.connectionsPerAddress
    opened += 1
    var isOn: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    // An address without the form of one cannot be reached, like one where nothing listens.
    guard
      let source = try? SocketAddress(
        ipAddress: "127.1.\(number >> 8 & 255).\(number & 255)", port: 0),
      let server = try? SocketAddress(ipAddress: target.host, port: target.port),
      source.withSockAddr({ bind(socket, $0, socklen_t($1)) }) == 0,
      server.withSockAddr({ connect(socket, $0, socklen_t($1)) }) == 0 || errno == EINPROGRESS
    else {
      close(socket)
      return nil
    }
    connections[socket] = Connection()
    return socket
  }

  /// Sends and receives as much as the system takes and has.
  private func advance(_ socket: Int32) {
    guard var connection = connections.removeValue(forKey: socket) else { return }
    while !connection.unsent.isEmpty {
      let sent = connection.unsent.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { break }
      connection.unsent = connection.unsent.dropFirst(sent)
    }
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else {
        if count < 0, [EAGAIN, ENOTCONN].contains(errno) { break }
        return end(socket, connection)
      }
      connection.received.append(contentsOf: buffer.prefix(count))
    }
    guard let upload = connection.upload, let head = ResponseHead(complete: connection.received)
    else {
      connections[socket] = connection
      return
    }
    record(head, due: due(upload))
    guard !head.closes else {
      close(socket)
      return
    }
    connections[socket] = Connection(isReused: true)
    waiting.append(socket)
  }

  /// Handles a connection that the server has closed. If the server closed it before it read a request, the request is
  /// sent again.
  private func end(_ socket: Int32, _ connection: Connection) {
    close(socket)
    guard let upload = connection.upload else { return }
    if let head = ResponseHead(complete: connection.received) {
      record(head, due: due(upload))
    } else if connection.isReused, connection.received.isEmpty {
      send(upload, mayReuse: false)
    } else {
      record(nil, due: due(upload))
    }
  }

  private func record(_ head: ResponseHead?, due: ContinuousClock.Instant) {
    let now = ContinuousClock.now
    outcomes.append(
      Outcome(
        status: head?.status, hasRetryAfter: head?.hasRetryAfter ?? false, time: now - due,
        sinceStart: now - start))
  }

  private func request(_ upload: PreparedUpload) -> [UInt8] {
    let head = [
      "POST \(target.path) HTTP/1.1", "host: \(target.hostField)",
      "content-type: application/json", "content-length: \(upload.body.count)", "", "",
    ]
    return Array(head.joined(separator: "\r\n").utf8) + upload.body
  }
}

/// The fields of a response that the generator needs.
private struct ResponseHead {
  let status: Int
  let hasRetryAfter: Bool
  /// True if the server closes the connection.
  let closes: Bool

  /// The head of a response with its whole body; nil if `bytes` is not complete.
  init?(complete bytes: [UInt8]) {
    guard let text = String(validating: bytes.prefix(1_024), as: UTF8.self)?.lowercased(),
      let end = text.range(of: "\r\n\r\n"), text.hasPrefix("http/1.1 "),
      let status = Int(text.dropFirst(9).prefix(3))
    else { return nil }
    let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
    let length = lines.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) }
    let headBytes = text[..<end.upperBound].utf8.count
    guard bytes.count >= headBytes + (length ?? 0) else { return nil }
    self.status = status
    hasRetryAfter = lines.contains { $0.hasPrefix("retry-after: ") }
    closes = lines.contains("connection: close")
  }
}
