import Foundation

/// The risk of one day, or of one kind of report on that day.
open class ENExposureSummaryItem: NSObject {
  private let sums: ExposureSums

  /// No risk.
  public override init() {
    sums = ExposureSums()
  }

  /// The sums of one day and one report type.
  package init(_ sums: ExposureSums) {
    self.sums = sums
  }

  /// The highest exposure risk value of a window, in seconds, to the nearest minute.
  open var maximumScore: Double { sums.roundedMaximumScore }
  /// The sum of all exposure risk values, in seconds, to the nearest minute.
  open var scoreSum: Double { sums.roundedScoreSum }
  /// The seconds of exposure weighted by attenuation alone, up to the next minute.
  open var weightedDurationSum: TimeInterval { sums.roundedWeightedDurationSum }
}
