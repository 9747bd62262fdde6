/// A figure to reach, with the sentence that promises it; or one that is told beside those.
struct BenchTarget: Sendable {
  /// What is compared.
  enum Measure: Sendable {
    /// A figure of a case.
    case figure(BenchFigure, of: String)
    /// One figure over another.
    case ratio(BenchFigure, String, over: BenchFigure, String)
    /// One figure less another of the same case.
    case difference(BenchFigure, BenchFigure, of: String)
  }

  /// Where the value has to lie.
  enum Bound: Sendable {
    case atMost(Double)
    case atLeast(Double)
    /// Within so many in a hundred of a value.
    case near(Double, percent: Double)
  }

  let sentence: String
  let measure: Measure
  /// Nil where nothing is promised: the figure says what to make of those above it.
  let bound: Bound?
  /// The bare kernels that have to be the reference's for the bound to say something of the
  /// program: those of the tier for a time, nil for what means the same on every processor.
  let yardstick: BenchYardstick?

  init(
    _ sentence: String, _ measure: Measure, _ bound: Bound? = nil,
    on yardstick: BenchYardstick? = nil
  ) {
    self.sentence = sentence
    self.measure = measure
    self.bound = bound
    self.yardstick = yardstick
  }
}

extension BenchTarget.Bound {
  func holds(for value: Double) -> Bool {
    switch self {
    case .atMost(let most): value <= most
    case .atLeast(let least): value >= least
    case .near(let wanted, let percent): abs(value - wanted) <= wanted * percent / 100
    }
  }

  var text: String {
    switch self {
    case .atMost(let most): "at most \(most.short)"
    case .atLeast(let least): "at least \(least.short)"
    case .near(let wanted, let percent): "\(wanted.short) ± \(percent.short) %"
    }
  }
}

extension Double {
  /// Without decimals where there is nothing to say with them.
  var short: String {
    let value = rounded(to: abs(self) < 10 ? 2 : 1)
    return value == value.rounded() ? String(Int(value)) : String(value)
  }
}
