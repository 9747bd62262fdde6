// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore

/// Closes connections of clients that do not read their responses, so that they do not use up
/// `QuietLimit.connectionsMax` and memory.
///
/// The idle timeout covers clients that send nothing. A slow reader sends requests, and its responses
/// are pending here or in the system's buffers, which can hold megabytes.
final class SlowReaderHandler: ChannelDuplexHandler {
  typealias InboundIn = NIOAny
  typealias OutboundIn = IOData

  private let interval: TimeAmount
  private let connections: OpenConnections
  private var written = 0
  /// The bytes that wait in this process, as last reported.
  private var unread = 0
  private var progress = ReadProgress()
  private var nextCheck: Scheduled<Void>?

  /// Allows a client `seconds` to read the minimum.
  init(seconds: Int, _ connections: OpenConnections) {
    self.connections = connections
    interval = .milliseconds(Int64(seconds * 1_000 / ReadProgress.checks))
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    nextCheck?.cancel()
  }

  func channelInactive(context: ChannelHandlerContext) {
    nextCheck?.cancel()
    context.fireChannelInactive()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    written += unwrapOutboundIn(data).readableBytes
    context.write(data, promise: promise)
  }

  func flush(context: ChannelHandlerContext) {
    context.flush()
    if nextCheck == nil { scheduleCheck(context) }
    reportUnread(context)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    reportUnread(context)
    context.fireChannelWritabilityChanged()
  }

  /// Reports the bytes that the system has not taken yet.
  private func reportUnread(_ context: ChannelHandlerContext) {
    // A channel that is being closed has no options, and nothing unread.
    let bytes = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    guard bytes != unread else { return }
    unread = bytes
    let channel = context.channel
    let handler = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    connections.setUnread(bytes, ObjectIdentifier(channel)) {
      channel.eventLoop.execute {
        let (handler, context) = handler.value
        handler.reset(context)
      }
    }
  }

  /// Checks the progress, and again after the interval while data is pending. Otherwise, and if the system does not
  /// count acknowledged bytes, the next response schedules the next check: one for each response would take a system
  /// call each.
  private func check(_ context: ChannelHandlerContext) {
    TCPInfo.read(of: context.channel)?.assumeIsolated().whenSuccess { [self] info in
      guard let acknowledged = info.acknowledged else { return }
      if progress.hasStalled(written: written, acknowledged: acknowledged) {
        reset(context)
      } else if progress.isPending {
        scheduleCheck(context)
      } else {
        progress = ReadProgress()
      }
    }
  }

  /// Resets the connection. After an ordinary close the system would keep the pending data.
  private func reset(_ context: ChannelHandlerContext) {
    guard let socket = context.channel as? any SocketOptionProvider else { return }
    socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
  }

  private func scheduleCheck(_ context: ChannelHandlerContext) {
    nextCheck = context.eventLoop.assumeIsolated().scheduleTask(in: interval) { [self] in
      nextCheck = nil
      check(context)
    }
  }
}

/// The progress of a client that reads its pending responses, sampled at regular checks.
struct ReadProgress {
  /// The number of checks in `QuietLimit.responseSecondsMax`. Detection may be late by one interval.
  static let checks = 4

  /// The pending and acknowledged bytes at the latest checks, oldest first.
  private var samples: [(pending: Int, acknowledged: Int)] = []

  /// True if data was pending at the last check.
  var isPending: Bool { samples.last.map { $0.pending > 0 } ?? false }

  /// Adds a sample and returns `true` if the client stalled over the last `checks` intervals.
  ///
  /// It stalled if it acknowledged less than `QuietLimit.responseBytesMin` and less than was pending at
  /// their start. Responses written since then do not count, so more requests do not help.
  mutating func hasStalled(written: Int, acknowledged: Int) -> Bool {
    samples.append((written - acknowledged, acknowledged))
    guard samples.count > Self.checks else { return false }
    let before = samples.removeFirst()
    return acknowledged - before.acknowledged < min(before.pending, QuietLimit.responseBytesMin)
  }
}

/// The first fields of Linux's `struct tcp_info` (linux/tcp.h), which only grows at its end.
struct TCPInfo: Sendable {
  /// The fields before the counters: 120 bytes, of which one field is used.
  private let others: InlineArray<30, UInt32>
  private let bytesAcknowledged: UInt64
  private let bytesReceived: UInt64

  /// The position of `tcpi_last_data_recv` in `others`.
  private static let lastReceipt = 13

  /// The bytes that the peer has acknowledged (`tcpi_bytes_acked`), or nil if the system does not count.
  ///
  /// Linux counts since 4.1. Systems such as gVisor leave both counters at 0, although a request was
  /// received.
  var acknowledged: Int? { bytesReceived > 0 ? Int(truncatingIfNeeded: bytesAcknowledged) : nil }

  /// The milliseconds since the system received the last data of the peer (`tcpi_last_data_recv`).
  var millisecondsSinceReceipt: UInt32 { others[Self.lastReceipt] }

  init(bytesAcknowledged: UInt64, bytesReceived: UInt64, millisecondsSinceReceipt: UInt32 = 0) {
    var others = InlineArray<30, UInt32>(repeating: 0)
    others[Self.lastReceipt] = millisecondsSinceReceipt
    self.others = others
    self.bytesAcknowledged = bytesAcknowledged
    self.bytesReceived = bytesReceived
  }

  /// The values of a connection now; nil if it is no socket. On the event loop of the channel, they are read before
  /// the call returns.
  static func read(of channel: any Channel) -> EventLoopFuture<TCPInfo>? {
    (channel as? any SocketOptionProvider)?.unsafeGetSocketOption(level: .tcp, name: .tcp_info)
  }
}

extension Channel {
  /// The time since the system received the last data of the connection; zero if the system does not report it. Call it
  /// on the event loop.
  var timeSinceReceipt: Duration {
    var time = Duration.zero
    TCPInfo.read(of: self)?.assumeIsolated().whenSuccess {
      time = .milliseconds(Int64($0.millisecondsSinceReceipt))
    }
    return time
  }
}
