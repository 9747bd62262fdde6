import ExposureKeys

/// One row of what a phone heard: all samples of one beacon in one scan.
package struct LoggedSighting: Hashable, Sendable {
  /// The beacon.
  package let advertisement: Advertisement
  /// When the scan began.
  package let time: LogTime
  /// How strongly it was heard, sample by sample, in dBm; at least one.
  package let signalStrengths: [Int8]
  /// Samples of the row that no radio reports: a lost minus sign, an overflow.
  package let implausibleSamples: Int

  /// Nil where `row` is no such row, or has no sample that a radio can report.
  init?(_ row: LogRow, of advertisement: Advertisement) {
    guard let first = row.first, let time = LogTime(first), let samples = row.list else {
      return nil
    }
    let numbers = samples.compactMap { Int($0) }
    let strengths = numbers.filter(FieldTrialLimit.signalStrengths.contains)
    guard numbers.count == samples.count, !strengths.isEmpty else { return nil }
    self.advertisement = advertisement
    self.time = time
    signalStrengths = strengths.map { Int8(clamping: $0) }
    implausibleSamples = numbers.count - strengths.count
  }
}
