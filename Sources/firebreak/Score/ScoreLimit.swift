/// What `firebreak score` is willing to read.
enum ScoreLimit {
  /// Exposure windows of one file.
  static let windowCountMax = 100_000
  /// Scans of one window: one a second for the half hour that a window lasts.
  static let scanCountMax = 1_800
  /// Seconds since the scan before: phones say 0 to 300, researchers up to a day.
  static let secondsSinceLastScan = 0...86_400
}
