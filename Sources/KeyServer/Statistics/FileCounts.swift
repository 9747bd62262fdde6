import Foundation
import KeyServerAPI

/// The counts of a day that follow from its key files: the times from uploads to their file, and padding.
///
/// The time of an upload is known to the hour, so it is taken as the middle of the hour, or of its part in the period.
struct FileCounts: Sendable {
  private static let hourSeconds: TimeInterval = 3_600
  private static let daySeconds: TimeInterval = 86_400

  /// The files of all exports.
  let files: [Batch]
  /// The export whose files count as the publication of an upload of any region.
  let root: String
  /// The moment until which this export is closed.
  let closedUntil: Date?

  /// The files whose periods lie within the day that begins at `day`, in Unix seconds.
  ///
  /// The list is empty until all of them are written, and as soon as the first of them may have expired: counts that
  /// change file by file would reveal the uploads of one period.
  func files(of day: Int64, at now: Date) -> [Batch] {
    let start = Date(timeIntervalSince1970: TimeInterval(day))
    let end = start.addingTimeInterval(Self.daySeconds)
    guard let closedUntil, end <= closedUntil,
      now < start.addingTimeInterval(KeyServerLimit.retentionSeconds)
    else { return [] }
    let files = files.filter { start <= $0.start && $0.releasedBefore <= end }
    return files.allSatisfy { $0.writtenAt != nil } ? files : []
  }

  /// The uploads among `counts` by the time until their file was written. Those of an hour without a file are left out.
  func waits(of counts: [StatisticCount], in files: [Batch]) -> [StatisticCount] {
    let written = files.filter { $0.export == root }
    let limits = StatisticsDay.uploadToFileMinutes
    return counts.filter { $0.place.kind == .uploads }.compactMap { count in
      let times = written.compactMap { Self.wait(of: count.place.hour, until: $0) }
      guard !times.isEmpty else { return nil }
      let minutes = times.reduce(0, +) / Double(times.count) / 60
      return StatisticCount(
        place: .init(
          hour: count.place.hour, issuer: count.place.issuer, kind: .fileWait,
          bucket: limits.firstIndex { minutes < Double($0) } ?? limits.count),
        count: count.count)
    }
  }

  /// The seconds from the uploads of an hour until the file was written; nil if its period does not overlap the hour.
  private static func wait(of hour: Int64, until file: Batch) -> TimeInterval? {
    let start = Date(timeIntervalSince1970: TimeInterval(hour))
    let first = max(start, file.start)
    let last = min(start.addingTimeInterval(hourSeconds), file.releasedBefore)
    guard first < last, let writtenAt = file.writtenAt else { return nil }
    return writtenAt.timeIntervalSince(first.addingTimeInterval(last.timeIntervalSince(first) / 2))
  }
}
