/// Some durations, of which the oldest makes room for the next.
struct LatestDurations {
  /// In no order.
  private(set) var all: [Duration] = []
  private let countMax: Int
  private var oldest = 0

  /// At most `countMax` of them.
  init(countMax: Int) {
    self.countMax = countMax
  }

  /// Keeps `duration`, and forgets the oldest where there are too many.
  mutating func append(_ duration: Duration) {
    if all.count < countMax {
      all.append(duration)
    } else {
      all[oldest] = duration
      oldest = (oldest + 1) % countMax
    }
  }

  /// The one in the middle; zero where there is none.
  var median: Duration {
    all.isEmpty ? .zero : all.sorted()[all.count / 2]
  }
}
