/// One case of a suite: what the suite says and what we say.
struct CaseOutcome: Encodable {
  let name: String
  let expected: String
  let got: String

  var isPassed: Bool { expected == got }

  var text: String {
    "FAILED \(name.printable)\n  expected \(expected.printable)\n  got      \(got.printable)"
  }

  private enum CodingKeys: String, CodingKey {
    case name = "case"
    case expected, got
  }
}
