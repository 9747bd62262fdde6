// SPDX-License-Identifier: Apache-2.0

/// A receiver operating characteristic: the shares of alerts among both groups for every threshold.
package struct ROCCurve: Hashable, Sendable {
  /// A threshold's result.
  package struct Point: Hashable, Sendable {
    /// The share of phones without alert that reach the threshold.
    package let falseShare: Double
    /// The share of phones with a high alert that reach it.
    package let trueShare: Double
  }

  /// From (0, 0), for the highest threshold, to (1, 1). Empty if one of the groups is empty.
  package let points: [Point]

  package init(_ phones: [ScoredPhone]) {
    let positives = Double(phones.count(where: \.isPositive))
    let negatives = Double(phones.count) - positives
    guard positives > 0, negatives > 0 else {
      points = []
      return
    }
    let steps = Dictionary(grouping: phones, by: \.score).sorted { $0.key > $1.key }
    var (reachedPositives, reachedNegatives) = (0.0, 0.0)
    points =
      [Point(falseShare: 0, trueShare: 0)]
      + steps.map { _, phones -> Point in
        reachedPositives += Double(phones.count(where: \.isPositive))
        reachedNegatives += Double(phones.count { !$0.isPositive })
        return Point(
          falseShare: reachedNegatives / negatives, trueShare: reachedPositives / positives)
      }
  }
}
