// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Limits and retention times of the key server.
public enum KeyServerLimit {
  /// Retention of key files and their keys, in seconds: 14 days, as long as phones keep contacts.
  public static let retentionSeconds: TimeInterval = 14 * 86_400
  /// The maximum number of keys in one file that phones accept.
  public static let keysPerFileMax = 500_000
  /// The maximum number of exports of one server.
  public static let exportCountMax = 100
  /// The maximum length of an export's file name root, in bytes.
  public static let filenameRootBytesMax = 64
  /// The size of `databaseKey`, in bytes.
  public static let databaseKeyBytes = 32
  /// The timeout of a request to the device check authority, in seconds.
  public static let deviceCheckSeconds = 10
  /// The largest value of `uploadAttempts`.
  public static let uploadAttemptsMax = 1_000_000
  /// The valid values of `uploadWindowSeconds`, up to a day.
  public static let uploadWindowSeconds = 1...86_400
  /// The number of decoys that an address may send for each allowed failed upload: phones send many decoys.
  static let decoysPerAttempt = 10
  /// The maximum size of a response of the device check authority, in bytes.
  static let deviceCheckResponseBytesMax = 16 * 1024
  /// The maximum length of the part of another service's response that is logged, in characters.
  static let loggedResponseCharactersMax = 120
  /// The time for which shared caches may answer requests for an index, in seconds.
  static let indexSharedSecondsMax = 30
  /// The timeout of a request for a file of another server, in seconds.
  static let importSeconds: Int64 = 120
  /// The time for which an imported file is remembered, in seconds; other servers list their files for 14 days.
  static let importRetentionSeconds: TimeInterval = 28 * 86_400
  /// The interval at which all stored data is checked, in seconds.
  static let checkSeconds: TimeInterval = 86_400
  /// The delay before a failed export is retried, in seconds.
  static let exportRetrySeconds: TimeInterval = 60
  /// The time in which the keys of a file have to sign, in seconds. It is less than `ExportLease.seconds`.
  static let signerSeconds: TimeInterval = 20
  /// The time for which a command waits for another process that exports, in seconds: the lease of one that hangs ends.
  static let exportWaitSeconds = ExportLease.seconds
  /// The time after its use in which another token or certificate with the same ID may be valid, in seconds. A
  /// verification server reissues a certificate for a day, and each is valid for an hour at most.
  static let reissueSecondsMax: TimeInterval = 86_400 + 3_600
  /// The time by which the clock may be set back without a used token being accepted again, in seconds.
  static let clockSetBackSecondsMax: TimeInterval = 86_400
  /// The maximum age of the onset of symptoms, in seconds: 28 days.
  static let onsetAgeSecondsMax: TimeInterval = 28 * 86_400
  /// The days from the onset of symptoms that phones accept in a key file.
  static let daysSinceOnset: ClosedRange<Int32> = -14...14
  /// The assumed age of the onset of symptoms if it is unknown, in seconds: 4 days.
  static let onsetGuessSeconds: TimeInterval = 4 * 86_400
  /// The largest number of connections of a process to its PostgreSQL database.
  static let databaseConnections = 4
  /// The time for which the removal of old keys waits for the table of keys, in milliseconds; uploads wait with it.
  static let tableLockMilliseconds = 200
  /// The maximum number of uploads in one transaction.
  static let uploadsInOneCommit = 64
  /// The maximum age of the cached registry of apps and authorities, in seconds.
  static let registryAgeSecondsMax: TimeInterval = 60
  /// The minimum interval between two reads of the registry because a signature names an unknown key, in seconds.
  static let unknownKeyReadSecondsMin: TimeInterval = 1
  /// The lowest configurable minimum number of uploads of a day in statistics.
  public static let statisticsUploadsMin = 10
  /// Counts of uploads in statistics are rounded to a multiple of this.
  static let statisticsMultiple = 10
  /// Counts of keys in statistics are rounded to a multiple of this: ten times the keys of an upload.
  static let statisticsKeysMultiple = 300
  /// The valid delays between the end of a day and its statistics, in seconds: an hour to 30 days. An upload
  /// counts in the hour it arrived in, and may be committed a little later.
  public static let statisticsDelaySeconds = 3_600...30 * 86_400
  /// Retention of statistics, in seconds: 60 days before the current day.
  static let statisticsSeconds: TimeInterval = 60 * 86_400
  /// The interval at which an authority's key set is fetched, in seconds. With the timeout of a request it is less
  /// than a minute, after which a key that left the key set is refused.
  static let keyPullSeconds: TimeInterval = 30
  /// The validity of a key after it left the authority's key set, in seconds.
  static let pulledKeyAfterlifeSeconds: TimeInterval = 0
  /// The timeout of a key set request, in seconds.
  static let keyPullTimeoutSeconds: Int64 = 10
  /// The maximum size of a key set, in bytes.
  static let keyPageBytesMax = 64 * 1024
  /// The maximum number of keys accepted from one key set.
  static let pulledKeysMax = 50
}
