import Foundation

/// What the cases said, by their names.
struct BenchResults {
  /// How a case ended.
  enum Ending {
    /// The object of the run in the middle, and the figure of all runs in their order.
    case measured([String: Any], figures: [Double])
    /// What it said instead, and with which exit code.
    case failed(status: Int32, sentence: String)
  }

  /// Whether they were measured on a processor of the reference's family.
  var areOfTheReferencesFamily = false
  private(set) var endings: [String: Ending] = [:]

  subscript(name: String) -> Ending? {
    get { endings[name] }
    set { endings[name] = newValue }
  }

  /// The value of a target; nil where something of it was not measured.
  func value(of measure: BenchTarget.Measure) -> Double? {
    switch measure {
    case .figure(let figure, let name): self.figure(figure, name)
    case .ratio(let above, let one, let below, let other):
      self.figure(above, one).flatMap { value in
        self.figure(below, other).flatMap { $0 > 0 ? value / $0 : nil }
      }
    case .difference(let more, let less, let name):
      self.figure(more, name).flatMap { value in self.figure(less, name).map { value - $0 } }
    }
  }

  private func figure(_ figure: BenchFigure, _ name: String) -> Double? {
    guard case .measured(let object, _) = endings[name] else { return nil }
    return figure.value(in: object)
  }
}
