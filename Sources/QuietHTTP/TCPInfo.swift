import NIOCore

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
