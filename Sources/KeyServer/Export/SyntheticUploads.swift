// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import KeyServerAPI
import World

/// Generates padding keys as complete uploads of synthetic users.
///
/// An observer who counts keys, properties or groups in a file must not learn how many real keys it has. So the
/// distributions of the padding are random for each file: the number of days in an upload, the day of onset, and
/// the frequency of each style and of each shape of a key. The input is the set of styles and shapes among the real
/// keys, and not their counts: a style or shape that padding never has would identify real keys.
struct SyntheticUploads {
  /// The period of the file.
  private let start: Date
  private let end: Date
  private let randomness: any Randomness
  private let styles: Weighted<Style>
  private let dayCounts: Weighted<Int>
  private let onsetAges: Weighted<Int>
  /// The shapes of keys that do not cover their whole day; nil if no real key is one.
  private let shapes: KeyShapes?

  /// The maximum number of days in one upload: phones keep their keys for 14 days.
  fileprivate static let daysMax = 14

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
    shapes = IntervalNumber(start).flatMap {
      KeyShapes(like: templates.map(\.key.key), on: $0.startOfDay, randomness)
    }
  }

  /// Returns `count` keys of synthetic uploads, the last of which may be incomplete.
  func keys(_ count: Int) -> [PublishableKey] {
    var keys: [PublishableKey] = []
    var required = shapes?.required ?? []
    // In a period that ends shortly after midnight many uploads have no key that may be published.
    for _ in 0..<(count + 1) * Self.daysMax where keys.count < count {
      keys += upload(with: required.popLast() ?? shapes?.drawn(from: randomness))
    }
    return Array(keys.prefix(count))
  }

  /// The keys of one upload in random order, so that a random part of the last upload is dropped.
  ///
  /// - Parameter shape: The shape of a key that the phone has because it changed its key during that day.
  private func upload(with shape: KeyShape?) -> [PublishableKey] {
    let hours = max(1, Int(end.timeIntervalSince(start)) / 3_600)
    let hour = start.addingTimeInterval(Double(randomness.number(in: 0...hours - 1)) * 3_600)
    guard var today = IntervalNumber(hour).map({ Int64($0.startOfDay.rawValue) }) else { return [] }
    // In a period of several days, the day of the upload is one on which its phone can have such a key.
    if let shape { today = min(max(today, shape.day), shape.day + shape.ageMax) }
    let style = styles.drawn(from: randomness)
    let onset = today - Int64(onsetAges.drawn(from: randomness)) * Self.dayLength
    let change = shape.map { KeyChange(to: $0, within: changes(on: $0.day), randomness) }
    let newest = shape?.day == today ? today : today - Self.dayLength
    let days = dayCounts.drawn(from: randomness)
    let oldest = min(today - Int64(days) * Self.dayLength, shape?.day ?? today)
    return randomness.shuffled(
      stride(from: oldest, through: newest, by: Int(Self.dayLength)).map(\.self)
    )
    .flatMap { day -> [PublishableKey] in
      (change?.parts(of: day, randomness) ?? [0..<Self.dayLength]).compactMap {
        key(from: day + $0.lowerBound, Int64($0.count), style, onset: onset)
      }
    }
  }

  /// The intervals of `day` at which a phone can have changed its key, so that the key before may be published.
  private func changes(on day: Int64) -> ClosedRange<Int> {
    let passed = (IntervalNumber(end).map { Int64($0.rawValue) } ?? day) - day
    let last = min(Self.dayLength - 1, passed - Int64(Embargo.intervals) - 1)
    return 1...max(1, Int(last))
  }

  fileprivate static let dayLength = Int64(IntervalNumber.perDay)

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

/// The shape of a key that does not cover its whole day: which day it is, and which part of it.
private struct KeyShape: Hashable, Sendable {
  /// A part of a day: up to the first change of the key, from the last one, or between two.
  enum Part: CaseIterable {
    case first, last, middle
  }

  /// The first interval of the day.
  let day: Int64
  let part: Part

  init(day: Int64, part: Part) {
    (self.day, self.part) = (day, part)
  }

  /// The shape of `key`; nil if it covers its whole day.
  init?(_ key: TemporaryExposureKey) {
    day = Int64(key.rollingStart.startOfDay.rawValue)
    let first = Int64(key.rollingStart.rawValue) - day
    let end = first + Int64(key.rollingPeriod)
    guard first > 0 || end < SyntheticUploads.dayLength else { return nil }
    part = first == 0 ? .first : end == SyntheticUploads.dayLength ? .last : .middle
  }

  /// The time for which a phone keeps such a key, in intervals.
  var ageMax: Int64 { Int64(SyntheticUploads.daysMax) * SyntheticUploads.dayLength }
}

/// The shapes of keys in the padding of one file, with random frequencies.
private struct KeyShapes: Sendable {
  /// Shapes that occur at least twice: those of the real keys, and some others, which hide them.
  let required: [KeyShape]
  private let all: Weighted<KeyShape>
  /// The part of uploads with such a key, in percent.
  private let percent: Int

  /// The shapes for a file whose period begins on `today`; nil if none of `templates` has one.
  init?(
    like templates: [TemporaryExposureKey], on today: IntervalNumber, _ randomness: any Randomness
  ) {
    let (today, day) = (Int64(today.rawValue), SyntheticUploads.dayLength)
    let known = Set(templates.compactMap(KeyShape.init)).filter { $0.day >= today - $0.ageMax }
    guard !known.isEmpty else { return nil }
    let past = (1...Int64(SyntheticUploads.daysMax)).flatMap { age in
      KeyShape.Part.allCases.map { KeyShape(day: today - age * day, part: $0) }
    }
    let shapes = past + known.filter { $0.day >= today }.sorted { $0.order < $1.order }
    let frequent = known.union(
      randomness.shuffled(past).prefix(randomness.number(in: Self.others))
    ).sorted { $0.order < $1.order }
    var weights = shapes.map { shape in
      // Most keys are partial because their phone uploads them on the next day; two changes on one day are rare.
      Weighted<KeyShape>.weight(power: 2, from: randomness) * (shape.day == today - day ? 4 : 1)
        / (shape.part == .middle ? 4 : 1)
    }
    let least = weights.reduce(0, +) / 4
    for (index, shape) in shapes.enumerated() where frequent.contains(shape) {
      weights[index] = max(weights[index], least)
    }
    required = randomness.shuffled(frequent + frequent)
    all = Weighted(shapes, weights: weights)
    percent = randomness.number(in: Self.percents)
  }

  /// The shape of a key in the next upload; nil if all its keys cover whole days.
  func drawn(from randomness: any Randomness) -> KeyShape? {
    randomness.number(in: 1...100) <= percent ? all.drawn(from: randomness) : nil
  }

  /// The number of shapes that are as frequent as those of the real keys.
  private static let others = 3...5
  private static let percents = 50...95
}

extension KeyShape {
  /// The sort key: with a fixed order, the same seed gives the same file.
  fileprivate var order: Int64 { day * 3 + Int64(Part.allCases.firstIndex(of: part) ?? 0) }
}

/// A day on which a phone changed its key: because it was set up, because its keys were uploaded, or because its
/// owner removed the data.
private struct KeyChange {
  private let day: Int64
  /// The parts of the day whose keys are in the upload.
  private let sent: [Range<Int64>]
  /// True if the phone was set up on this day, and so has no older keys.
  private let isFirst: Bool

  /// A change at one of `moments`, with a key of the given shape. The other keys of the day may be missing.
  init(to shape: KeyShape, within moments: ClosedRange<Int>, _ randomness: any Randomness) {
    day = shape.day
    let end = SyntheticUploads.dayLength
    let moment = Int64(randomness.number(in: moments))
    let other = Int64(randomness.number(in: moments))
    let (early, late) = (min(moment, other), max(moment, other))
    let parts: [Range<Int64>]
    switch shape.part {
    case .middle where early < late: parts = [early..<late, 0..<early, late..<end]
    case .last: parts = [moment..<end, 0..<moment]
    case .first, .middle: parts = [0..<moment, moment..<end]
    }
    let isAlone = randomness.number(in: 0...1) == 0
    sent = isAlone ? [parts[0]] : parts
    isFirst = isAlone && shape.part == .last && randomness.number(in: 0...1) == 0
  }

  /// The parts of `day` whose keys are in the upload.
  func parts(of day: Int64, _ randomness: any Randomness) -> [Range<Int64>] {
    guard day == self.day else {
      return isFirst && day < self.day ? [] : [0..<SyntheticUploads.dayLength]
    }
    return randomness.shuffled(sent)
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
      key: diagnosisKey, regions: id.regions, travels: id.travels, releasedAt: releasedAt,
      isPadding: true)
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
    self.init(
      values, weights: values.map { change($0, Self.weight(power: power, from: randomness)) })
  }

  init(_ values: [Value], weights: [Int]) {
    var sum = 0
    self.values = values
    sums = weights.map { weight in
      sum += weight
      return sum
    }
  }

  /// A random weight; a higher `power` makes small ones more frequent.
  static func weight(power: Int, from randomness: any Randomness) -> Int {
    let part = Double(randomness.number(in: 1...1_000)) / 1_000
    return max(1, Int(pow(part, Double(power)) * 100_000))
  }

  func drawn(from randomness: any Randomness) -> Value {
    let number = randomness.number(in: 1...sums[sums.count - 1])
    return values[sums.firstIndex { number <= $0 } ?? 0]
  }
}
