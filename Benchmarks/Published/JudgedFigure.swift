// SPDX-License-Identifier: Apache-2.0
/// A figure of a measurement beside its target.
struct JudgedFigure: Encodable {
  let name: String
  let value: Double
  /// The target, such as "at least 0.8"; nil if only the figure of another workload has one.
  let target: String?
  let holds: Bool

  init(_ name: String, _ value: Double, _ bound: BenchmarkTarget.Bound?) {
    (self.name, self.value) = (name, value)
    (target, holds) = (bound?.text, bound?.holds(for: value) ?? true)
  }

  var text: String {
    guard let target else { return "\(name): \(value)" }
    return "\(name): \(value), target \(target): \(holds ? "holds" : "FAILS")"
  }
}
