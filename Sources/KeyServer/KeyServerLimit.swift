import Foundation

/// What the key server keeps, and for how long.
public enum KeyServerLimit {
  /// How long key files and their keys are kept, in seconds: as long as a phone remembers contacts.
  public static let retentionSeconds: TimeInterval = 14 * 86_400
  /// Keys in one file, as phones are willing to read.
  public static let keysPerFileMax = 500_000
  /// Exports of one server.
  public static let exportCountMax = 100
  /// The root that an export's files lie under, in bytes.
  public static let filenameRootBytesMax = 64
  /// How long the device check authority may take, in seconds.
  public static let deviceCheckSeconds = 10
  /// How many failed uploads an address may be granted in a window.
  public static let uploadAttemptsMax = 1_000_000
  /// The window of failed uploads, in seconds: up to a day.
  public static let uploadWindowSeconds = 1...86_400
  /// Decoys of one address for each failed upload it has: phones send many, and none of them fails.
  static let decoysPerAttempt = 10
  /// Bytes of the authority's answer that are read.
  static let deviceCheckAnswerBytesMax = 16 * 1024
  /// How long to wait before an export that failed is tried again, in seconds.
  static let exportRetrySeconds: TimeInterval = 60
  /// How long after its use a token or a certificate of the same name may still be good, in seconds: a
  /// verification server issues certificates anew for a day, each good for an hour at most
  /// (Documentation/VerificationServer.md 2.5).
  static let reissueSecondsMax: TimeInterval = 86_400 + 3_600
  /// How far the clock may be set back without a used token becoming good again, in seconds.
  static let clockSetBackSecondsMax: TimeInterval = 86_400
  /// How far the onset of symptoms may lie back, in seconds: 28 days.
  static let onsetAgeSecondsMax: TimeInterval = 28 * 86_400
  /// Days from onset that a phone accepts in a key file, either way.
  static let daysSinceOnset: ClosedRange<Int32> = -14...14
  /// How long ago symptoms are taken to have begun where nobody said, in seconds: 4 days.
  static let onsetGuessSeconds: TimeInterval = 4 * 86_400
  /// Uploads that share one transaction at most.
  static let uploadsInOneCommit = 64
  /// How old the register of apps and authorities may be before it is read again, in seconds.
  static let registerAgeSecondsMax: TimeInterval = 60
  /// How old it may be where a signature names a key that is not in it, in seconds: a flood of such
  /// signatures costs no more than a reading a second.
  static let registerAgeSecondsMaxForUnknownKey: TimeInterval = 1
  /// Uploads of a day below which no statistics of it leave, however the server is set up.
  public static let statisticsUploadsMin = 10
  /// How long after its end a day may be shown, in seconds: an hour to 30 days. An upload is counted in
  /// the hour it came in, and may be committed a little later.
  public static let statisticsDelaySeconds = 3_600...30 * 86_400
  /// How far back statistics go before today, and how long they are kept, in seconds: 60 days.
  static let statisticsSeconds: TimeInterval = 60 * 86_400
  /// How often an authority's page of keys is read, in seconds.
  static let keyPullSeconds: TimeInterval = 3_600
  /// How long a key is believed that has gone from its page, in seconds: 30 days.
  static let pulledKeyAfterlifeSeconds: TimeInterval = 30 * 86_400
  /// How long an authority's page may take, in seconds.
  static let keyPullAnswerSeconds = 10
  /// Bytes of an authority's page that are read.
  static let keyPageBytesMax = 64 * 1024
  /// Keys of an authority's page that are taken.
  static let pulledKeysMax = 50
}
