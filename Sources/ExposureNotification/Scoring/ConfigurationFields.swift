import Foundation

/// The fields of a configuration, each checked when it is taken out.
///
/// Every refusal is `ENError.badParameter` with a sentence that names the field
/// (Documentation/RiskScoring.md 6).
struct ConfigurationFields {
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
      throw Self.refusal(field, "needs eight whole numbers from 0 to 8")
    }
    return table
  }

  /// The thresholds of the metadata where there are some, of the property otherwise.
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
      throw Self.refusal(field, "needs \(count) whole numbers from 0 to 255, ascending")
    }
    return numbers.map { UInt8(clamping: $0) }
  }

  /// The minimum of the metadata where there is one, of the property otherwise.
  func minimumFullRange() throws(ENError) -> Double {
    let field = "minimumRiskScoreFullRange"
    guard let given = configuration.metadata?[field] else {
      return try number(field, configuration.minimumRiskScoreFullRange, in: Self.fullRange)
    }
    guard let minimum = given as? NSNumber ?? (given as? Double).map(NSNumber.init(value:)) else {
      throw Self.refusal(field, "needs a number")
    }
    return try number(field, minimum.doubleValue, in: Self.fullRange)
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

  /// A weight in percent as a factor.
  func factor(_ field: String, _ percent: Double) throws(ENError) -> Double {
    try number(field, percent, in: Self.percentages) / 100
  }

  func number(
    _ field: String, _ value: Double, in range: ClosedRange<Double>
  ) throws(ENError) -> Double {
    guard range.contains(value) else {
      throw Self.refusal(
        field, "needs a number from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
    }
    return value
  }

  static func refusal(_ field: String, _ need: String) -> ENError {
    ENError(.badParameter, explanation: "\(field) \(need); correct the exposure configuration.")
  }

  /// Nil where one of them is no whole number.
  private static func integers(_ numbers: [NSNumber]) -> [Int]? {
    let integers = numbers.compactMap { Int(exactly: $0.doubleValue) }
    return integers.count == numbers.count ? integers : nil
  }
}
