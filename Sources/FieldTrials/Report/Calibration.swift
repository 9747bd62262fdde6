// SPDX-License-Identifier: Apache-2.0

/// The share of high alerts among phones with similar scores.
///
/// A score is well calibrated as a risk if this share rises with it.
package struct Calibration: Hashable, Sendable {
  /// The number of groups, if there are as many different scores.
  static let groupCount = 5

  /// Phones with neighboring scores.
  package struct Group: Hashable, Sendable {
    package let lowest: Double
    package let highest: Double
    package let positives: Int
    package let count: Int

    /// The share of high alerts.
    package var share: Double { Double(positives) / Double(count) }
  }

  /// In ascending order of scores. Equal scores are in one group.
  package let groups: [Group]

  package init(_ phones: [ScoredPhone]) {
    let sorted = phones.sorted { $0.score < $1.score }
    var groups: [[ScoredPhone]] = []
    for (index, phone) in sorted.enumerated() {
      let isNext = index * Self.groupCount / sorted.count >= groups.count
      if isNext, groups.last?.last?.score != phone.score {
        groups.append([phone])
      } else {
        groups[groups.count - 1].append(phone)
      }
    }
    self.groups = groups.compactMap { phones in
      guard let lowest = phones.first?.score, let highest = phones.last?.score else { return nil }
      return Group(
        lowest: lowest, highest: highest, positives: phones.count(where: \.isPositive),
        count: phones.count)
    }
  }
}
