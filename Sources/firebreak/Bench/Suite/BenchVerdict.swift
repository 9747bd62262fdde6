/// What came out for a target.
enum BenchVerdict: Equatable {
  case holds
  case doesNotHold
  /// The bound was set for another processor than this one, or one that nobody looked at.
  case notJudged(because: String)
  case notMeasured
  /// Nothing was promised.
  case told

  /// The verdict of `results` on `target`. Documentation/Performance.md 4.5.
  init(on target: BenchTarget, by results: BenchResults) {
    guard let value = results.value(of: target.measure) else {
      self = .notMeasured
      return
    }
    guard let bound = target.bound else {
      self = .told
      return
    }
    switch target.yardstick?.processor(by: results) ?? .likeTheReferences {
    case .likeTheReferences: self = bound.holds(for: value) ? .holds : .doesNotHold
    case .slower(let figures):
      self = .notJudged(because: "this processor's bare kernels take \(figures)")
    case .unknown:
      self = .notJudged(because: "this processor's bare kernels were not measured")
    }
  }

  var text: String {
    switch self {
    case .holds: "holds"
    case .doesNotHold: "**does not hold**"
    case .notJudged(let reason): "not judged: \(reason)"
    case .notMeasured: "not measured"
    case .told: ""
    }
  }
}
