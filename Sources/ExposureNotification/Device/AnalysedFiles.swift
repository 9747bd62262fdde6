import Foundation
import World

/// The key files whose matches the device keeps, by their SHA-256, and those whose matches were lost.
///
/// API version 2 keeps matches for the app. After they are lost, a result without them would wrongly show no
/// risk. So detections fail until every file has been passed again or is older than 14 days.
struct AnalysedFiles: Equatable, Codable, Sendable {
  /// The date when each file was last passed in.
  private(set) var passed: [Data: Date] = [:]
  /// The files that must be passed again.
  private(set) var lost: Set<Data> = []
  /// True while matches are stored, so that a missing file of matches is a loss.
  var hasMatches = false

  /// Adds the files of a successful detection at `now`, and removes old ones.
  mutating func add(_ files: Set<Data>, at now: Date, keeping period: RetentionPeriod) {
    for file in files { passed[file] = now }
    passed = passed.filter { period.keeps(since: $0.value) }
    let excess = passed.count - DeviceLimit.analysedFiles
    if excess > 0 {
      for (file, _) in passed.sorted(by: { $0.value < $1.value }).prefix(excess) {
        passed[file] = nil
      }
    }
    lost.subtract(files)
    lost.formIntersection(passed.keys)
  }

  /// Records that the matches of all files are lost.
  mutating func lose() {
    lost = Set(passed.keys)
    hasMatches = false
  }

  /// Removes withdrawn files, which need not be passed again.
  mutating func forget(_ files: Set<Data>) {
    for file in files { passed[file] = nil }
    lost.subtract(files)
  }

  /// Records that all available files have been passed again.
  mutating func confirm() {
    lost = []
  }
}
