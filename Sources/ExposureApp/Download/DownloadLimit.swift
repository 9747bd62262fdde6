import Foundation

/// What the phone is willing to fetch. Documentation/App.md 3.
public enum DownloadLimit {
  /// Files fetched at the same time.
  public static let filesAtOnce = 4
  /// Files of one run; the others wait for the next. Two weeks have 84.
  public static let filesPerRun = 100
  /// The largest key file, in bytes.
  public static let fileBytesMax = 16 << 20
  /// How far in the future a file may end, in seconds: a name is not signed, and one from the far
  /// future would make the phone blind until then.
  public static let futureSecondsMax: TimeInterval = 86_400
}
