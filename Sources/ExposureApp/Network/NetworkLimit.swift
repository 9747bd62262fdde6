/// What the phone is willing to send, wait for and receive.
public enum NetworkLimit {
  /// How long an ordinary request may take, in seconds.
  public static let timeoutSeconds = 20.0
  /// The largest ordinary answer, in bytes.
  public static let answerBytesMax = 64 << 10
  /// How long the connection itself may take, in seconds.
  public static let connectSeconds = 10
  /// The longest wait a server may ask for with Retry-After, in seconds.
  public static let retryAfterSecondsMax = 24 * 3_600
}
