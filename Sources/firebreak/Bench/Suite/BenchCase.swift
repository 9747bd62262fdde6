/// One bench of the published set.
struct BenchCase: Sendable {
  /// Also the name of its file in `out/bench`.
  let name: String
  /// What it is, for people.
  let sentence: String
  /// What `firebreak bench` is given.
  let arguments: [String]
  /// How often it is run; the run in the middle counts.
  let runs: Int
  /// The figure by which the runs are put in order.
  let figure: BenchFigure

  /// A bench of `arguments`, which are divided by blanks.
  init(
    _ name: String, _ sentence: String, _ arguments: String, runs: Int = 3,
    by figure: BenchFigure = .cpu
  ) {
    self.name = name
    self.sentence = sentence
    self.arguments = arguments.split(separator: " ").map(String.init)
    self.runs = runs
    self.figure = figure
  }
}
