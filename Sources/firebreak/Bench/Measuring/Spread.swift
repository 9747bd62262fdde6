/// Some measured values, in order.
struct Spread {
  private let sorted: [Double]

  init(_ values: [Double]) {
    sorted = values.sorted()
  }

  var minimum: Double { sorted.first ?? 0 }
  var median: Double { percentile(50) }
  var maximum: Double { sorted.last ?? 0 }

  /// The smallest value that so many in a hundred do not exceed; 0 where there are none.
  func percentile(_ share: Int) -> Double {
    guard !sorted.isEmpty else { return 0 }
    let rank = (sorted.count * share + 99) / 100
    return sorted[min(max(rank, 1), sorted.count) - 1]
  }

  /// The largest distance between the two distributions, 0 to 1 (Kolmogorov-Smirnov).
  func distance(to other: Spread) -> Double {
    var (here, there, largest) = (0, 0, 0.0)
    for value in Set(sorted).union(other.sorted).sorted() {
      while here < sorted.count, sorted[here] <= value { here += 1 }
      while there < other.sorted.count, other.sorted[there] <= value { there += 1 }
      let shares = (
        Double(here) / Double(max(1, sorted.count)),
        Double(there) / Double(max(1, other.sorted.count))
      )
      largest = max(largest, abs(shares.0 - shares.1))
    }
    return largest
  }

  /// Whether both may well be draws of one distribution: by the distance that two draws exceed
  /// once in a thousand times.
  func isLike(_ other: Spread) -> Bool {
    let (count, others) = (Double(sorted.count), Double(other.sorted.count))
    guard count > 0, others > 0 else { return false }
    return distance(to: other) <= 1.95 * ((count + others) / (count * others)).squareRoot()
  }
}
