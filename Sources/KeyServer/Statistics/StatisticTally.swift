import Foundation

/// What uploads add to the statistics, before it is written down with them.
struct StatisticTally: Sendable {
  /// Days that ages of keys are counted by.
  static let oldestKeyDays = 0...15
  /// Days that onsets are counted by.
  static let onsetDays = 0...29

  private var sums: [StatisticCount.Place: Int] = [:]

  /// Counts one upload that was taken.
  mutating func add(_ facts: UploadFacts, _ outcome: UploadOutcome) {
    func count(_ kind: StatisticKind, _ bucket: Int = 0, _ number: Int = 1) {
      guard number > 0 else { return }
      sums[
        StatisticCount.Place(hour: facts.hour, issuer: facts.issuer, kind: kind, bucket: bucket),
        default: 0] += number
    }
    count(.uploads, facts.platform.rawValue)
    count(.keys, 0, outcome.inserted)
    if outcome.revised > 0 { count(.revisions) }
    if let days = facts.oldestKeyDays { count(.oldestKey, Self.clamp(days, Self.oldestKeyDays)) }
    if let days = facts.onsetDays {
      count(.onset, Self.clamp(days, Self.onsetDays))
    } else {
      count(.missingOnset)
    }
  }

  /// The sums, in an order that is always the same.
  var counts: [StatisticCount] {
    sums.map { StatisticCount(place: $0.key, count: $0.value) }.sorted {
      ($0.place.kind.rawValue, $0.place.bucket) < ($1.place.kind.rawValue, $1.place.bucket)
    }
  }

  /// Unix seconds of the hour that `moment` lies in.
  static func hour(of moment: Date) -> Int64 {
    let hours = (moment.timeIntervalSince1970 / Embargo.coarseSeconds).rounded(.down)
    return Int64(hours * Embargo.coarseSeconds)
  }

  private static func clamp(_ days: Int, _ range: ClosedRange<Int>) -> Int {
    min(max(days, range.lowerBound), range.upperBound)
  }
}
