/// A figure with a target, or without one for information.
struct BenchmarkTarget: Sendable {
  enum Measure: Sendable {
    /// A figure of a benchmark.
    case figure(BenchmarkFigure, of: String)
    /// A figure of one benchmark over a figure of another.
    case ratio(BenchmarkFigure, String, over: BenchmarkFigure, String)
    /// The difference of two figures of a benchmark.
    case difference(BenchmarkFigure, BenchmarkFigure, of: String)
  }

  enum Bound: Sendable {
    case atMost(Double)
    case atLeast(Double)
    /// Within a percentage of a value.
    case near(Double, percent: Double)
  }

  let description: String
  let measure: Measure
  /// Nil if the figure has no target.
  let bound: Bound?
  /// The kernels that must be as fast as those of the reference processor for the bound to apply; nil if the bound
  /// applies on every processor.
  let kernels: ReferenceKernels?

  init(
    _ description: String, _ measure: Measure, _ bound: Bound? = nil,
    on kernels: ReferenceKernels? = nil
  ) {
    self.description = description
    self.measure = measure
    self.bound = bound
    self.kernels = kernels
  }
}

extension BenchmarkTarget.Bound {
  func holds(for value: Double) -> Bool {
    switch self {
    case .atMost(let maximum): value <= maximum
    case .atLeast(let minimum): value >= minimum
    case .near(let center, let percent): abs(value - center) <= center * percent / 100
    }
  }

  var text: String {
    switch self {
    case .atMost(let maximum): "at most \(maximum.short)"
    case .atLeast(let minimum): "at least \(minimum.short)"
    case .near(let center, let percent): "\(center.short) ± \(percent.short) %"
    }
  }
}

/// The kernels of a tier and their speed on the reference processor.
///
/// A time in nanoseconds is meaningful only on a comparable processor. The kernels measure that: if they are slower
/// than on the reference processor, times are not judged.
struct ReferenceKernels: Sendable {
  struct Stage: Sendable {
    let name: String
    let figure: BenchmarkFigure
    /// The time per key up to which a processor counts as comparable.
    let nanosecondsMax: Double

    func isSlower(_ nanoseconds: Double) -> Bool { nanoseconds > nanosecondsMax }
  }

  enum Processor: Equatable {
    case comparable
    /// Slower; the text names the stages.
    case slower(String)
    case notMeasured
  }

  /// The benchmark that measures the stages.
  let benchmark: String
  let stages: [Stage]

  func processor(in results: BenchmarkResults) -> Processor {
    guard !results.isReferenceFamily else { return .comparable }
    let values = stages.compactMap { stage in
      results.value(of: .figure(stage.figure, of: benchmark)).map { (stage, $0) }
    }
    guard values.count == stages.count else { return .notMeasured }
    let slow = values.filter { stage, value in stage.isSlower(value) }
    return slow.isEmpty
      ? .comparable
      : .slower(
        slow.map { stage, value in
          "\(stage.name) \(value.short) ns, reference at most \(stage.nanosecondsMax.short)"
        }.joined(separator: "; "))
  }
}

/// The evaluation of a target.
enum BenchmarkVerdict: Equatable {
  case holds
  case fails
  case notJudged(reason: String)
  case notMeasured
  /// The figure has no target.
  case informative

  init(on target: BenchmarkTarget, in results: BenchmarkResults) {
    guard let value = results.value(of: target.measure) else {
      self = .notMeasured
      return
    }
    guard let bound = target.bound else {
      self = .informative
      return
    }
    switch target.kernels?.processor(in: results) ?? .comparable {
    case .comparable: self = bound.holds(for: value) ? .holds : .fails
    case .slower(let stages): self = .notJudged(reason: "slower kernels: \(stages)")
    case .notMeasured: self = .notJudged(reason: "kernels not measured")
    }
  }

  var text: String {
    switch self {
    case .holds: "holds"
    case .fails: "**fails**"
    case .notJudged(let reason): "not judged: \(reason)"
    case .notMeasured: "not measured"
    case .informative: ""
    }
  }
}

extension Double {
  /// At most two decimals, none if they are zero.
  var short: String {
    let scale = abs(self) < 10 ? 100.0 : 10.0
    let value = (self * scale).rounded() / scale
    return value == value.rounded() ? String(Int(value)) : String(value)
  }
}
