// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import KeyServerAPI
import World

/// Generates padding keys as complete uploads of synthetic users.
///
/// An observer who counts keys, properties or groups in a file must not learn how many real keys it has. So the
/// distributions of the padding are random for each file: the number of days in an upload, the day of onset, and
/// the frequency of each style. The input is the set of styles among the real keys, and not their counts: a
/// style that padding never has would identify real keys.
struct SyntheticUploads {
  /// The period of the file.
  private let start: Date
  private let end: Date
  private let randomness: any Randomness
  private let styles: Weighted<Style>
  private let dayCounts: Weighted<Int>
  private let onsetAges: Weighted<Int>
  /// The part of uploads with a key that does not cover its whole day, in percent.
  private let partialPercent: Int

  /// The maximum number of days in one upload: phones keep their keys for 14 days.
  private static let daysMax = 14

  /// Draws the distributions of one file; nil if `templates`, the real keys of the file, is empty.
  init?(
    like templates: [PublishableKey], from start: Date, to end: Date, randomness: any Randomness
  ) {
    let styles = Dictionary(grouping: templates, by: Style.ID.init).values
      .compactMap { Style($0) }.sorted { $0.name < $1.name }
    guard !styles.isEmpty else { return nil }
    self.start = start
    self.end = end
    self.randomness = randomness
    self.styles = Weighted(styles, power: 2, from: randomness)
    dayCounts = Weighted(Array(1...Self.daysMax), power: 3, from: randomness) { days, weight in
      // Most phones have been in use for longer than keys are kept.
      days == Self.daysMax ? 4 * weight : weight
    }
    onsetAges = Weighted(Array(0..<Self.daysMax), power: 3, from: randomness)
    let hasPartial = templates.contains {
      $0.key.key.rollingPeriod != IntervalNumber.perDay
        || $0.key.key.rollingStart != $0.key.key.rollingStart.startOfDay
    }
    partialPercent = hasPartial ? randomness.number(in: 5...95) : 0
  }

  /// Returns `count` keys of synthetic uploads, the last of which may be incomplete.
  func keys(_ count: Int) -> [PublishableKey] {
    var keys: [PublishableKey] = []
    // In a period that ends shortly after midnight many uploads have no key that may be published.
    for _ in 0..<(count + 1) * Self.daysMax where keys.count < count { keys += upload() }
    return Array(keys.prefix(count))
  }

  /// The keys of one upload in random order, so that a random part of the last upload is dropped.
  private func upload() -> [PublishableKey] {
    let hours = max(1, Int(end.timeIntervalSince(start)) / 3_600)
    let hour = start.addingTimeInterval(Double(randomness.number(in: 0...hours - 1)) * 3_600)
    guard let today = IntervalNumber(hour)?.startOfDay else { return [] }
    let style = styles.drawn(from: randomness)
    let onset = Int64(today.rawValue) - Int64(onsetAges.drawn(from: randomness)) * Self.dayLength
    let partial =
      randomness.number(in: 1...100) <= partialPercent
      ? randomness.number(in: 1...Int(IntervalNumber.perDay) - 1) : nil
    let days = dayCounts.drawn(from: randomness)
    return randomness.shuffled(1...days).flatMap { age -> [PublishableKey] in
      let first = Int64(today.rawValue) - Int64(age) * Self.dayLength
      // The newest day is divided at a key change: the upload has the key of one part of the day, or both.
      guard age == 1, let partial else {
        return [key(from: first, Self.dayLength, style, onset: onset)].compactMap(\.self)
      }
      let part = Int64(partial)
      let parts = [(first, part), (first + part, Self.dayLength - part)]
      let sent = randomness.number(in: 0...2)
      return (sent == 2 ? parts : [parts[sent]])
        .compactMap { key(from: $0.0, $0.1, style, onset: onset) }
    }
  }

  private static let dayLength = Int64(IntervalNumber.perDay)

  /// A key that is released in the last second of the period, and so belongs to every period with the same end.
  private func key(
    from first: Int64, _ length: Int64, _ style: Style, onset: Int64
  ) -> PublishableKey? {
    guard let first = UInt32(exactly: first), let length = UInt32(exactly: length),
      let key = TemporaryExposureKey(
        bytes: randomness.bytes(UploadLimit.keyByteCount),
        rollingStart: IntervalNumber(rawValue: first), rollingPeriod: length),
      Embargo.release(of: key, receivedAt: start) < end
    else { return nil }
    let days = (Int64(key.rollingStart.startOfDay.rawValue) - onset) / Self.dayLength
    return style.key(
      key, days: Int32(clamping: days), releasedAt: end.addingTimeInterval(-1), from: randomness)
  }
}

/// The properties that all keys of an upload share.
private struct Style: Sendable {
  /// The properties that define a style.
  struct ID: Hashable {
    let reportType: ReportType?
    let hasOnset: Bool
    let regions: [String]
    let travels: Bool

    init(_ key: PublishableKey) {
      reportType = key.key.reportType
      hasOnset = key.key.daysSinceOnsetOfSymptoms != nil
      regions = key.regions
      travels = key.travels
    }
  }

  private let id: ID
  /// The transmission risks by days since onset; keys without an onset are under 0.
  private let risks: [Int32: [UInt8]]

  /// The style of `keys`, which must all have the same; nil if there is no key.
  init?(_ keys: [PublishableKey]) {
    guard let first = keys.first else { return nil }
    id = ID(first)
    risks = Dictionary(grouping: keys) { $0.key.daysSinceOnsetOfSymptoms ?? 0 }
      .mapValues { Set($0.map(\.key.transmissionRiskLevel)).sorted() }
  }

  /// The sort key of styles: with a fixed order, the same seed gives the same file.
  var name: String {
    "\(id.reportType?.rawValue ?? -1) \(id.hasOnset) \(id.regions) \(id.travels)"
  }

  /// The padding key with the bytes and days of `key`. Its risk is drawn from the real keys of the nearest day.
  func key(
    _ key: TemporaryExposureKey, days: Int32, releasedAt: Date, from randomness: any Randomness
  ) -> PublishableKey? {
    let days = id.hasOnset && KeyServerLimit.daysSinceOnset.contains(days) ? days : nil
    guard days != nil || !id.hasOnset,
      let nearest = risks.keys.min(by: { distance($0, days) < distance($1, days) }),
      let choices = risks[nearest],
      let diagnosisKey = DiagnosisKey(
        key: key, transmissionRiskLevel: choices[randomness.number(in: 0...choices.count - 1)],
        reportType: id.reportType, daysSinceOnsetOfSymptoms: days)
    else { return nil }
    return PublishableKey(
      key: diagnosisKey, regions: id.regions, travels: id.travels, releasedAt: releasedAt)
  }

  /// The distance of two days for comparisons; of two equal distances, the earlier day is smaller.
  private func distance(_ known: Int32, _ day: Int32?) -> Int64 {
    let difference = Int64(known) - Int64(day ?? 0)
    return 2 * abs(difference) + (difference > 0 ? 1 : 0)
  }
}

/// Values with random weights.
private struct Weighted<Value: Sendable>: Sendable {
  private let values: [Value]
  /// The sums of the weights up to each value.
  private let sums: [Int]

  /// Draws a random weight for each value; a higher `power` gives a more uneven distribution.
  init(
    _ values: [Value], power: Int, from randomness: any Randomness,
    _ change: (Value, Int) -> Int = { $1 }
  ) {
    var sum = 0
    self.values = values
    sums = values.map { value in
      let part = Double(randomness.number(in: 1...1_000)) / 1_000
      sum += change(value, max(1, Int(pow(part, Double(power)) * 100_000)))
      return sum
    }
  }

  func drawn(from randomness: any Randomness) -> Value {
    let number = randomness.number(in: 1...sums[sums.count - 1])
    return values[sums.firstIndex { number <= $0 } ?? 0]
  }
}
