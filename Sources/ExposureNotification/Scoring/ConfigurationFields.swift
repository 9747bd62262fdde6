// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reads and validates the fields of a configuration.
///
/// Every error is `ENError.badParameter` with an explanation that begins with the field's name.
struct ConfigurationFields {
  /// The scores of version 1.
  static let fullRange: ClosedRange<Double> = 0...4096
  static let weights: ClosedRange<Double> = 0...100
  static let percentages: ClosedRange<Double> = 0...250
  static let attenuations: ClosedRange<Int> = 0...255

  private let configuration: ENExposureConfiguration

  init(_ configuration: ENExposureConfiguration) {
    self.configuration = configuration
  }

  func table(_ field: String, _ values: [NSNumber]) throws(ENError) -> LevelTable {
    guard let table = Self.integers(values).flatMap(LevelTable.init) else {
      throw Self.invalid(field, "needs eight whole numbers from 0 to 8")
    }
    return table
  }

  /// The thresholds of the metadata, which take precedence over the property.
  func thresholds(counts: ClosedRange<Int>) throws(ENError) -> [UInt8] {
    let field = "attenuationDurationThresholds"
    let given = configuration.metadata?[field]
    let numbers =
      if let given { given as? [Int] ?? (given as? [NSNumber]).flatMap(Self.integers) } else {
        Self.integers(configuration.attenuationDurationThresholds)
      }
    guard let numbers, counts.contains(numbers.count),
      numbers.allSatisfy(Self.attenuations.contains), numbers == numbers.sorted()
    else {
      let count = counts.count > 1 ? "two or three" : "three"
      throw Self.invalid(field, "needs \(count) whole numbers from 0 to 255, ascending")
    }
    return numbers.map { UInt8(clamping: $0) }
  }

  /// The minimum of the metadata, which takes precedence over the property. `scores` are the possible
  /// scores.
  func minimumFullRange(of scores: ClosedRange<Double> = fullRange) throws(ENError) -> Double {
    let field = "minimumRiskScoreFullRange"
    guard let given = configuration.metadata?[field] else {
      return try number(field, configuration.minimumRiskScoreFullRange, in: scores)
    }
    guard let minimum = given as? NSNumber ?? (given as? Double).map(NSNumber.init(value:)) else {
      throw Self.invalid(field, "needs a number")
    }
    return try number(field, minimum.doubleValue, in: scores)
  }

  func checkUnusedWeights() throws(ENError) {
    let all = [
      ("attenuationWeight", configuration.attenuationWeight),
      ("daysSinceLastExposureWeight", configuration.daysSinceLastExposureWeight),
      ("durationWeight", configuration.durationWeight),
      ("transmissionRiskWeight", configuration.transmissionRiskWeight),
    ]
    for (field, weight) in all { _ = try number(field, weight, in: Self.weights) }
  }

  func weight(_ field: String, _ percent: Double) throws(ENError) -> DurationWeight {
    DurationWeight(percent: try number(field, percent, in: Self.percentages))
  }

  func number(
    _ field: String, _ value: Double, in range: ClosedRange<Double>
  ) throws(ENError) -> Double {
    guard range.contains(value) else {
      throw Self.invalid(
        field,
        "needs a number from \(Decimal(range.lowerBound)) to \(Decimal(range.upperBound))")
    }
    return value
  }

  static func invalid(_ field: String, _ requirement: String) -> ENError {
    ENError(
      .badParameter, explanation: "\(field) \(requirement); correct the exposure configuration.")
  }

  /// Returns nil if a number is not whole.
  private static func integers(_ numbers: [NSNumber]) -> [Int]? {
    let integers = numbers.compactMap { Int(exactly: $0.doubleValue) }
    return integers.count == numbers.count ? integers : nil
  }
}
