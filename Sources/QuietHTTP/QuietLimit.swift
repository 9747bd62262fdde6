/// What every server of ours is willing to bear from one connection.
public enum QuietLimit {
  /// Connections at a time; further ones wait in the system's queue.
  public static let connectionsMax = 1_024
  /// Connections of one address at a time (IPv4 whole, IPv6 to 64 bits); a further one is closed at once.
  public static let connectionsPerAddressMax = 256
  /// Seconds in which a connection must bring its next whole request head.
  public static let idleSeconds = 30
  /// Seconds in which a client must bring the body of a request, where a route says nothing else.
  public static let bodySecondsMax = 20
  /// Seconds in which a client must take `answerBytesMin` of what waits for it, or all where it is less.
  public static let answerSecondsMax = 60
  /// Bytes that a client must take of waiting answers in `answerSecondsMax`: about nine kilobits a second,
  /// less than the slowest mobile network carries.
  public static let answerBytesMin = 64 << 10
  /// Bytes of all the headers of a request.
  public static let headerBytesMax = 16 << 10
  /// Headers of a request.
  public static let headersMax = 100
  /// Seconds that a client may still read our refusal before we hang up on what it keeps sending.
  public static let lingerSeconds = 2
  /// Seconds that requests in progress get when the server is told to stop.
  public static let shutdownSeconds = 10
  /// Addresses that a budget remembers at a time.
  public static let budgetKeysMax = 100_000
  /// Bits that a network of trusted proxies has in common: those of 10.0.0.0/8 and fd00::/8, the widest
  /// that are anybody's own.
  public static let proxyPrefixBitsMin = 8
  /// Networks from which a route may be asked: so many can be looked through for each request.
  public static let netmasksMax = 1_000
  /// Real answers whose time is remembered, so that decoys can take as long.
  public static let answerTimesMax = 256
  /// Sleepers whose delay is remembered, so that decoys can be woken up in time.
  public static let wakingDelaysMax = 64
  /// The longest time a decoy is made to wait, in seconds.
  public static let decoySecondsMax = 5
  /// After how many seconds a client should try again where we could not keep anything.
  public static let retryAfterSeconds = 30
}
