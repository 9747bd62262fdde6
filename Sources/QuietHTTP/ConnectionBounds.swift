/// What one server bears from its connections: `QuietLimit`, unless a test cannot wait that long.
package struct ConnectionBounds: Sendable {
  /// Connections at a time.
  package var connectionsMax = QuietLimit.connectionsMax
  /// Connections of one address at a time, trusted proxies aside.
  package var connectionsPerAddressMax = QuietLimit.connectionsPerAddressMax
  /// Seconds in which a connection must bring its next whole request head.
  package var idleSeconds = QuietLimit.idleSeconds
  /// Seconds in which a peer must take `QuietLimit.answerBytesMin` of what waits for it, or all.
  package var answerSeconds = QuietLimit.answerSecondsMax

  /// The bounds of `QuietLimit`.
  package init() {}
}
