/// A set of measured values.
struct Distribution {
  private let sorted: [Double]

  init(_ values: [Double]) {
    sorted = values.sorted()
  }

  var minimum: Double { sorted.first ?? 0 }
  var median: Double { percentile(50) }
  var maximum: Double { sorted.last ?? 0 }

  /// The nearest-rank percentile; 0 if there are no values.
  func percentile(_ share: Int) -> Double {
    guard !sorted.isEmpty else { return 0 }
    let rank = (sorted.count * share + 99) / 100
    return sorted[min(max(rank, 1), sorted.count) - 1]
  }

  /// The Kolmogorov-Smirnov statistic of the two distributions, 0 to 1.
  func distance(to other: Distribution) -> Double {
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

  /// True if a Kolmogorov-Smirnov test at a level of 0.001 does not tell the distributions apart.
  func isLike(_ other: Distribution) -> Bool {
    let (count, others) = (Double(sorted.count), Double(other.sorted.count))
    guard count > 0, others > 0 else { return false }
    return distance(to: other) <= 1.95 * ((count + others) / (count * others)).squareRoot()
  }
}

extension Double {
  /// Rounds to a number of decimal places.
  func rounded(to places: Int) -> Double {
    let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
    return (self * scale).rounded() / scale
  }
}
