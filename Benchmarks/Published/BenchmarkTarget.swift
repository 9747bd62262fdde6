// SPDX-License-Identifier: Apache-2.0
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
  /// The speeds that a machine must have for the bound to apply; nil if it applies on every machine.
  let reference: ReferenceSpeeds?

  init(
    _ description: String, _ measure: Measure, _ bound: Bound? = nil,
    on reference: ReferenceSpeeds? = nil
  ) {
    self.description = description
    self.measure = measure
    self.bound = bound
    self.reference = reference
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

/// The speeds of the machine that a benchmark measures without the program around them, such as those of the kernels of
/// a tier, and the bounds within which a machine counts as comparable with the reference processor.
///
/// A time or a rate is meaningful only on a comparable machine. On a slower one it is not judged, except on the
/// reference family.
struct ReferenceSpeeds: Sendable {
  struct Speed: Sendable {
    let name: String
    let unit: String
    let figure: BenchmarkFigure
    /// The values on a comparable machine.
    let bound: BenchmarkTarget.Bound
    /// True if the measured code is part of the product: then a lower speed on the reference processor is a regression.
    let isOfProduct: Bool

    func isSlower(_ value: Double) -> Bool { !bound.holds(for: value) }
  }

  enum Machine: Equatable {
    case comparable
    /// Slower; the text names the speeds.
    case slower(String)
    case notMeasured
  }

  /// The benchmark that measures the speeds.
  let benchmark: String
  let speeds: [Speed]

  func machine(in results: BenchmarkResults) -> Machine {
    guard !results.isReferenceFamily else { return .comparable }
    let values = speeds.compactMap { speed in
      results.value(of: .figure(speed.figure, of: benchmark)).map { (speed, $0) }
    }
    guard values.count == speeds.count else { return .notMeasured }
    let slow = values.filter { speed, value in speed.isSlower(value) }
    return slow.isEmpty
      ? .comparable
      : .slower(
        slow.map { speed, value in
          "\(speed.name) \(value.short) \(speed.unit), reference \(speed.bound.text)"
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
    switch target.reference?.machine(in: results) ?? .comparable {
    case .comparable: self = bound.holds(for: value) ? .holds : .fails
    case .slower(let speeds): self = .notJudged(reason: "slower machine: \(speeds)")
    case .notMeasured: self = .notJudged(reason: "speed of the machine not measured")
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
