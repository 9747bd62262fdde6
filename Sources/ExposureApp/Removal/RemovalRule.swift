import Foundation

/// How long anything is kept. Documentation/App.md 6.
public enum RemovalRule {
  /// A day, in seconds.
  public static let daySeconds: TimeInterval = 86_400
  /// Exposures and rows of the history, in days.
  public static let exposureDays = 14
  /// Sums of keys a day, in days.
  public static let dayChecksDays = 7
  /// A begun upload, in seconds: as long as the server keeps its token.
  public static let pendingUploadSeconds: TimeInterval = 30 * 60

  /// The oldest exposure that is kept at `now`: just fourteen days old.
  static func oldestExposure(at now: Date) -> Date {
    now.addingTimeInterval(-Double(exposureDays) * daySeconds)
  }
}

extension StoredState {
  /// Removes everything that is too old at `now`.
  mutating func removeOld(at now: Date) {
    let oldest = RemovalRule.oldestExposure(at: now)
    exposures.removeAll { $0.date < oldest }
    removedDays?.removeAll { $0.date < oldest }
    history.prune(at: now)
    refusedPINs = PINLock.relevant(refusedPINs, at: now)
    if let pendingUpload, pendingUpload.isExpired(at: now) { self.pendingUpload = nil }
  }
}
