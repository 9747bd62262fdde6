// SPDX-License-Identifier: Apache-2.0

/// The share of pairs, one of each group, in which the first group's member scores higher. A tie counts
/// half; 1 is perfect, 0.5 is chance.
///
/// It equals the area under the receiver operating characteristic (the Mann-Whitney U divided by the
/// number of pairs).
package enum AreaUnderCurve {
  /// Returns nil if a group is empty.
  package static func of(positives: [Double], negatives: [Double]) -> Double? {
    guard !positives.isEmpty, !negatives.isEmpty else { return nil }
    let sorted = negatives.sorted()
    let halves = positives.reduce(0) { sum, score in
      let below = sorted.partitioningIndex { $0 >= score }
      let notAbove = sorted.partitioningIndex { $0 > score }
      return sum + below + notAbove
    }
    return Double(halves) / 2 / (Double(positives.count) * Double(negatives.count))
  }
}

extension [Double] {
  /// The first index whose element satisfies `predicate`, in an array in which all later ones do too.
  fileprivate func partitioningIndex(where predicate: (Double) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
