/// The beginning of what Linux tells about a connection: `struct tcp_info` of linux/tcp.h, which only grows at its
/// end.
struct TCPFacts: Sendable {
  /// States, times and counts that nobody here asks for: 120 bytes.
  private let others: InlineArray<15, UInt64>
  /// `tcpi_bytes_acked`: what the peer's system has taken, of all that was ever sent.
  let bytesAcknowledged: UInt64
}
