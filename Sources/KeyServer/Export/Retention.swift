import Foundation

/// What is kept at one moment, and what is not any more. Documentation/Exports.md 8.
struct Retention: Hashable, Sendable {
  /// Used tokens that were kept until then go.
  let now: Date
  /// Files whose period ended by then go.
  let filesEndedBy: Date
  /// Statistics of hours before then go, in Unix seconds.
  let countsFrom: Int64

  /// What is kept at `now`.
  init(at now: Date) {
    self.now = now
    filesEndedBy = now.addingTimeInterval(-KeyServerLimit.retentionSeconds)
    countsFrom = StatisticsView.firstDay(at: now)
  }

  /// Keys that were released, and revised if they were, before then go; the oldest file that is kept
  /// begins at `oldestFile`. It may have to be written again, with all its keys.
  func keysFrom(oldestFile: Date?) -> Date { min(oldestFile ?? filesEndedBy, filesEndedBy) }
}
