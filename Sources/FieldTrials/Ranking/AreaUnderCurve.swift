/// How well scores tell two groups apart: the share of pairs, one of each group, in which the first
/// group's scores higher; a tie counts half. 1 is perfect, 0.5 is a coin.
///
/// It equals the area under the receiver operating characteristic (Mann and Whitney's U over the
/// number of pairs).
package enum AreaUnderCurve {
  /// Nil where a group is empty: there are no pairs.
  package static func of(positives: [Double], negatives: [Double]) -> Double? {
    guard !positives.isEmpty, !negatives.isEmpty else { return nil }
    let sorted = negatives.sorted()
    let halves = positives.reduce(0) { sum, score in
      let below = sorted.partitionIndex { $0 >= score }
      let notAbove = sorted.partitionIndex { $0 > score }
      return sum + below + notAbove
    }
    return Double(halves) / 2 / (Double(positives.count) * Double(negatives.count))
  }
}

extension [Double] {
  /// The first index whose element satisfies `predicate`, in an array where all later ones do too.
  fileprivate func partitionIndex(where predicate: (Double) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
