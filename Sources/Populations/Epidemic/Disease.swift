// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The course of an infection, in days since the infection.
public struct Disease: Hashable, Sendable {
  /// The mean time until symptoms, and its standard deviation.
  public var incubationDays = 5.42
  public var incubationDeviation = 2.7
  /// The mean time until a transmission, and its standard deviation: the shape of the infectiousness.
  public var generationDays = 5.5
  public var generationDeviation = 2.14
  /// The share of infected people who get symptoms.
  public var symptomaticShare = 0.7
  /// The infectiousness of people without symptoms, as a part of that of others.
  public var asymptomaticFactor = 0.33
  /// The standard deviation of the infectiousness of different people, whose mean is 1.
  public var infectiousnessDeviation = 1.4
  /// The mean number of people that one infects at the beginning, without tests and isolation.
  public var reproductionNumber = 2.5

  /// Creates the parameters of OpenABM-Covid19 with a lower reproduction number.
  public init() {}

  /// The days in which a person can infect others.
  public static let infectiousDays = 1..<15

  /// The part of the infectiousness that falls on each day since the infection; the sum is 1.
  var dailyWeights: [Double] {
    let shape = pow(generationDays / generationDeviation, 2)
    let scale = generationDays / shape
    let logarithms = Self.infectiousDays.map { day in
      let middle = Double(day) + 0.5
      return (shape - 1) * log(middle) - middle / scale
    }
    // The largest weight becomes 1: those of a small deviation are beyond the range of floating point numbers.
    let largest = logarithms.max() ?? 0
    let weights = logarithms.map { exp($0 - largest) }
    let sum = weights.reduce(0, +)
    return [Double](repeating: 0, count: Self.infectiousDays.lowerBound) + weights.map { $0 / sum }
  }

  /// The mean infectiousness of people with symptoms, as a part of which that of each person is stated.
  private var meanFactor: Double {
    symptomaticShare + (1 - symptomaticShare) * asymptomaticFactor
  }

  /// The multiple of the mean infectiousness that people with or without symptoms have.
  func factor(hasSymptoms: Bool) -> Double { (hasSymptoms ? 1 : asymptomaticFactor) / meanFactor }

  /// The shape of the gamma distribution of the infectiousness of different people; nil if it is equal.
  var infectiousnessShape: Double? {
    infectiousnessDeviation > 0 ? 1 / (infectiousnessDeviation * infectiousnessDeviation) : nil
  }

  /// The probability that an infected person infects another one by a dose, averaged over all infected people.
  ///
  /// - Parameter dose: The rate of infections times the dose, for a person of mean infectiousness.
  func meanChance(ofDose dose: Double) -> Double {
    func chance(hasSymptoms: Bool) -> Double {
      let dose = dose * factor(hasSymptoms: hasSymptoms)
      guard let shape = infectiousnessShape else { return -expm1(-dose) }
      // The Laplace transform of the gamma distribution.
      return -expm1(-shape * log1p(dose / shape))
    }
    return symptomaticShare * chance(hasSymptoms: true)
      + (1 - symptomaticShare) * chance(hasSymptoms: false)
  }

  /// The dose of a minute at a distance, as a part of that within 1 m (Briers).
  public static func dose(metres: Double) -> Double { min(1, 1 / (metres * metres)) }
}

/// The course of the infection of one person, drawn at its start.
public struct Course: Hashable, Sendable {
  /// The second of the run at which the person was infected.
  public let infected: Int
  /// The person who infected; nil for the first cases.
  public let source: Int?
  /// The second of the first symptoms; nil without symptoms.
  public let onset: Int?
  /// The infectiousness as a multiple of the mean.
  let infectiousness: Double

  init(of person: Int, at second: Int, by source: Int?, disease: Disease, seed: UInt64) {
    var generator = StreamGenerator(seed: seed, Stream.course, UInt64(person))
    infected = second
    self.source = source
    let hasSymptoms = generator.happens(disease.symptomaticShare)
    let days = generator.lognormal(
      mean: disease.incubationDays, deviation: disease.incubationDeviation)
    onset = hasSymptoms ? second + Int(days * Double(Epidemic.daySeconds)) : nil
    let own =
      disease.infectiousnessShape.map { generator.gamma(shape: $0, scale: 1 / $0) } ?? 1
    infectiousness = own * disease.factor(hasSymptoms: hasSymptoms)
  }
}
