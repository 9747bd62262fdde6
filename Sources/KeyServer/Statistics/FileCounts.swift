import Foundation
import KeyServerAPI

/// The counts of an authority that follow from key files: the times from its uploads to their file, and padding.
///
/// The time of an upload is known to the hour, so it is taken as the middle of the hour, or of its part in the period.
struct FileCounts: Sendable {
  private static let hourSeconds: TimeInterval = 3_600

  private let uploads: [Int64: Int]
  private let files: [Batch]

  /// - Parameter counts: Those of one authority.
  init(of counts: [StatisticCount], in files: [Batch]) {
    uploads = counts.reduce(into: [:]) { uploads, count in
      if count.place.kind == .uploads { uploads[count.place.hour, default: 0] += count.count }
    }
    self.files = files
  }

  /// The uploads by the time until the file with their keys was written, by hour.
  ///
  /// - Parameter root: The export whose files count. Uploads of an hour without a file are left out.
  func waits(for root: String, issuer: String) -> [StatisticCount] {
    let written = files.filter { $0.export == root && $0.writtenAt != nil }
    let limits = StatisticsDay.uploadToFileMinutes
    return uploads.compactMap { hour, count in
      let times = written.compactMap { Self.wait(of: hour, until: $0) }
      guard !times.isEmpty else { return nil }
      let minutes = times.reduce(0, +) / Double(times.count) / 60
      return StatisticCount(
        place: .init(
          hour: hour, issuer: issuer, kind: .fileWait,
          bucket: limits.firstIndex { minutes < Double($0) } ?? limits.count), count: count)
    }
  }

  /// The seconds from the uploads of an hour to the file; nil if its period has no part of the hour.
  private static func wait(of hour: Int64, until file: Batch) -> TimeInterval? {
    let start = Date(timeIntervalSince1970: TimeInterval(hour))
    let first = max(start, file.start)
    let last = min(start.addingTimeInterval(hourSeconds), file.releasedBefore)
    guard first < last, let writtenAt = file.writtenAt else { return nil }
    return writtenAt.timeIntervalSince(first.addingTimeInterval(last.timeIntervalSince(first) / 2))
  }

  /// The files of the day that begins at `day` whose periods have at least `uploadsMin` uploads, oldest first.
  ///
  /// Periods that do not consist of whole hours are left out: their uploads are not known.
  func files(of day: Int64, uploadsMin: Int) -> [Batch] {
    files.filter { file in
      let (start, end) = (file.start.wholeSeconds, file.releasedBefore.wholeSeconds)
      let hour = Int64(Self.hourSeconds)
      guard StatisticsView.day(of: start) == day, start % hour == 0, end % hour == 0 else {
        return false
      }
      return stride(from: start, to: end, by: Int64.Stride(hour)).reduce(0) {
        $0 + (uploads[$1] ?? 0)
      } >= uploadsMin
    }
  }
}
