// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A grid of thresholds and weights of version 2.
package struct ConfigurationSweep: Hashable, Sendable {
  /// The largest number of combinations.
  package static let pointsMax = 20_000

  /// The combinations with ascending thresholds.
  package let points: [SweepPoint]
  /// The number of combinations that were skipped because their thresholds do not ascend.
  package let skipped: Int

  /// Creates the grid of three thresholds in dB and four weights in percent, from near to far.
  package init(
    thresholds: [SweepRange], weights: [SweepRange], pointsMax: Int = pointsMax
  ) throws(SweepError) {
    let thresholdValues = try Self.checked(
      thresholds, "thresholds", count: 3, of: SweepPoint.attenuations, areWhole: true)
    let weightValues = try Self.checked(
      weights, "weights", count: 4, of: SweepPoint.percentages, areWhole: false)
    let values = thresholdValues + weightValues
    let count = values.reduce(1) { min($0, pointsMax + 1) * $1.count }
    guard count <= pointsMax else { throw .tooMany(pointsMax) }
    var rows: [[Double]] = [[]]
    for column in values { rows = rows.flatMap { row in column.map { row + [$0] } } }
    let all = rows.map { row in
      SweepPoint(thresholds: row.prefix(3).map { Int($0) }, weights: Array(row.dropFirst(3)))
    }
    points = all.filter(\.isAscending)
    skipped = all.count - points.count
    guard !points.isEmpty else { throw .noneAscending }
  }

  /// The grid of `--learn` if no other is given.
  package static func standard() throws(SweepError) -> ConfigurationSweep {
    try ConfigurationSweep(
      thresholds: [
        .steps(from: 50, to: 60, by: 5), .steps(from: 60, to: 70, by: 5),
        .steps(from: 70, to: 80, by: 5),
      ],
      weights: [
        .values([100, 150, 200]), .values([100]), .values([0, 25, 50]), .values([0]),
      ])
  }

  private static func checked(
    _ ranges: [SweepRange], _ field: String, count: Int, of limits: ClosedRange<Double>,
    areWhole: Bool
  ) throws(SweepError) -> [[Double]] {
    guard ranges.count == count else { throw .wrongCount(field, count) }
    var columns: [[Double]] = []
    for range in ranges {
      guard let values = range.values(atMost: pointsMax), !values.isEmpty else {
        throw .invalidRange(field)
      }
      guard values.allSatisfy({ limits.contains($0) && (!areWhole || $0 == $0.rounded()) }) else {
        throw .outOfRange(field, limits)
      }
      columns.append(values)
    }
    return columns
  }
}

/// The values of one threshold or weight in a sweep.
package enum SweepRange: Hashable, Sendable {
  case values([Double])
  case steps(from: Double, to: Double, by: Double)

  /// The values; nil if there are more than `limit` or the step is not positive.
  func values(atMost limit: Int) -> [Double]? {
    switch self {
    case .values(let values): return values.count <= limit ? values : nil
    case .steps(let from, let to, let step):
      guard step > 0, from <= to, (to - from) / step < Double(limit) else { return nil }
      // A value may miss the end by an error of the division.
      let count = Int(((to - from) / step + 1e-9).rounded(.down))
      return (0...count).map { from + Double($0) * step }
    }
  }
}

/// A combination of thresholds and weights.
package struct SweepPoint: Hashable, Sendable {
  static let attenuations: ClosedRange<Double> = 0...255
  static let percentages: ClosedRange<Double> = 0...250

  /// The upper ends of three ranges in dB.
  package let thresholds: [Int]
  /// The weights of four ranges in percent.
  package let weights: [Double]

  package init(thresholds: [Int], weights: [Double]) {
    self.thresholds = thresholds
    self.weights = weights
  }

  var isAscending: Bool { thresholds == thresholds.sorted() }

  /// The thresholds with spaces between them.
  package var thresholdText: String { thresholds.map { "\($0)" }.joined(separator: " ") }

  /// The weights with spaces between them. Small ones are not rounded to 0.
  package var weightText: String {
    weights.map { String(format: "%.4g", $0) }.joined(separator: " ")
  }
}

/// The reason why a sweep cannot be used.
package enum SweepError: Error, Hashable {
  case wrongCount(String, Int)
  case invalidRange(String)
  case outOfRange(String, ClosedRange<Double>)
  case tooMany(Int)
  case noneAscending
}

extension SweepError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .wrongCount(let field, let count):
      "\(field) needs a list of \(count) numbers, lists or ranges."
    case .invalidRange(let field):
      "\(field) has an empty or endless range: give from, to and a positive step."
    case .outOfRange(let field, let limits):
      "\(field) needs \(field == "thresholds" ? "whole numbers" : "numbers") from "
        + "\(Int(limits.lowerBound)) to \(Int(limits.upperBound))."
    case .tooMany(let limit):
      "more than \(limit) combinations: use fewer values or larger steps."
    case .noneAscending:
      "no combination has ascending thresholds: order the thresholds from near to far."
    }
  }
}
