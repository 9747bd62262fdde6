// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The sizes of households and the ages of their members.
enum HouseholdModel {
  /// The shares of households of 1 to 6 people: UK, ONS, as in OpenABM-Covid19.
  static let sizeShares = [0.27, 0.36, 0.16, 0.15, 0.04, 0.02]
  /// The share of the two adults' households of two; in the others, one is a child.
  private static let coupleShare = 0.85
  /// The share of single people and couples who are 65 or older.
  private static let retiredShare = 0.4

  /// Draws the ages of a household: one or two adults, and children as long as the size needs them.
  static func ages(of size: Int, _ generator: inout StreamGenerator) -> [Int] {
    switch size {
    case 1: return [adult(&generator)]
    case 2 where generator.happens(coupleShare):
      let first = adult(&generator)
      return [first, max(18, first + generator.number(in: -5...5))]
    default:
      let adults = size == 2 ? 1 : 2
      let parent = generator.number(in: 25...55)
      let children = (0..<size - adults).map { _ in
        generator.number(in: max(0, parent - 45)...min(25, parent - 20))
      }
      return [parent, max(20, parent + generator.number(in: -5...5))].prefix(adults) + children
    }
  }

  private static func adult(_ generator: inout StreamGenerator) -> Int {
    generator.happens(retiredShare)
      ? generator.number(in: 65...90) : generator.number(in: 18...64)
  }
}

/// Classes and workplaces.
enum GroupModel {
  /// The share of people from 18 to 66 who work with others.
  static let employedShare = 0.7
  /// The pupils of a class.
  static let classSize = 20
  /// The people who work near each other.
  static let workplaceSizes = 3...12
}

/// The ownership of smartphones.
enum PhoneModel {
  /// The share of people with a smartphone by decade of age (OFCOM, as in OpenABM-Covid19).
  private static let byDecade = [0.09, 0.80, 0.97, 0.96, 0.94, 0.86, 0.70, 0.48, 0.32]

  static func ownership(age: Int) -> Double { byDecade[min(age / 10, byDecade.count - 1)] }
}

extension Double {
  /// The natural logarithm.
  static func logarithm(_ value: Double) -> Double { log(value) }
}
