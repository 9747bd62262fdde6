/// The beginning of what Linux tells about a connection: `struct tcp_info` of linux/tcp.h, which only grows at its
/// end.
struct TCPFacts: Sendable {
  /// States, times and counts that nobody here asks for: 120 bytes.
  private let others: InlineArray<15, UInt64>
  private let bytesAcknowledged: UInt64
  private let bytesReceived: UInt64

  /// What the peer's system has taken (`tcpi_bytes_acked`), of all that was ever sent, where the peer has sent
  /// something itself; nil where our system does not count.
  ///
  /// Linux counts either way since 4.1. A system that leaves both out, such as gVisor, has received no byte
  /// of a request that we answer.
  var taken: Int? { bytesReceived > 0 ? Int(truncatingIfNeeded: bytesAcknowledged) : nil }

  init(bytesAcknowledged: UInt64, bytesReceived: UInt64) {
    others = InlineArray(repeating: 0)
    self.bytesAcknowledged = bytesAcknowledged
    self.bytesReceived = bytesReceived
  }
}
