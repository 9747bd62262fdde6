/// The bare kernels of a tier, which say whether this processor is like the reference's: only there
/// does a time in nanoseconds say something of the program. Documentation/Performance.md 4.5.
struct BenchYardstick: Sendable {
  /// A stage of the machine's limit.
  struct Stage: Sendable {
    let name: String
    let figure: BenchFigure
    /// What a processor like the reference's takes for a key.
    let mostNanoseconds: Double

    func isSlower(at nanoseconds: Double) -> Bool { nanoseconds > mostNanoseconds }
  }

  /// The case that measures the stages.
  let bench: String
  let stages: [Stage]

  /// What `results` say of the processor.
  func processor(by results: BenchResults) -> Processor {
    guard !results.areOfTheReferencesFamily else { return .likeTheReferences }
    let values = stages.compactMap { stage in
      results.value(of: .figure(stage.figure, of: bench)).map { (stage, $0) }
    }
    guard values.count == stages.count else { return .unknown }
    let slow = values.filter { stage, value in stage.isSlower(at: value) }
    return slow.isEmpty
      ? .likeTheReferences
      : .slower(
        slow.map { stage, value in
          "\(value.short) ns for \(stage.name), the reference's at most \(stage.mostNanoseconds.short)"
        }.joined(separator: "; "))
  }

  /// A processor beside the reference's.
  enum Processor: Equatable {
    case likeTheReferences
    /// What its bare kernels take.
    case slower(String)
    /// Its bare kernels were not measured.
    case unknown
  }
}
