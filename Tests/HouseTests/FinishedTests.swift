import Testing

@Suite("Nothing is promised that is not there")
struct FinishedTests {
  @Test("What comments cite exists")
  func citations() {
    for file in House.outsideThisRoom {
      for finding in CitationRule.findings(in: file, text: House.text) {
        Issue.record(Comment(rawValue: finding.description))
      }
    }
  }

  @Test("No room is a placeholder")
  func placeholders() {
    let found = House.paths.filter { $0.lowercased().contains("placeholder") }
    #expect(found.isEmpty, "build the room or take it out: \(found)")
  }
}
