// SPDX-License-Identifier: Apache-2.0
/// Limits of the app's network requests.
public enum NetworkLimit {
  /// The default request timeout, in seconds.
  public static let timeoutSeconds = 20.0
  /// The default maximum length of a response body, in bytes.
  public static let responseBytesMax = 64 << 10
  /// The connection timeout, in seconds.
  public static let connectSeconds = 10
  /// The time after which an idle connection is closed, in seconds: less than that of servers, which could otherwise
  /// close a connection while a request is sent on it.
  public static let idleSeconds: Int64 = 5
  /// The timeout for requests to servers on the same machine, in seconds: large, so that a slow machine does not
  /// cause network errors.
  public static let ownMachineTimeoutSeconds = 1_800.0
  /// The longest accepted `Retry-After`, in seconds.
  public static let retryAfterSecondsMax = 24 * 3_600
  /// The largest value of `Age`, in seconds, with which a response still states the time.
  static let ageSecondsMax: Double = 24 * 3_600
  /// The first pause after a refusal without `Retry-After`, in seconds; it doubles with each refusal.
  public static let pauseSecondsMin = 300.0
  /// The longest such pause, in seconds.
  public static let pauseSecondsMax = 4 * 3_600.0
  /// The number of refusals after which pauses do not grow any more.
  public static let refusalsMax = 8
  /// The pause before the first retry of a download, in seconds; it doubles with each retry.
  public static let retrySeconds = 1.0
  /// The longest pause between two retries, in seconds.
  public static let retrySecondsMax = 30.0
  /// The number of failed downloads in a row after which a check sends no more requests.
  public static let failuresInARowMax = 8
  /// The maximum length of `ETag` and `Last-Modified`, in bytes.
  public static let versionBytesMax = 256
}
