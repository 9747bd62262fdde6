// SPDX-License-Identifier: Apache-2.0
import Terminal
import Testing

@Suite("Suggestions for misspelled names")
struct SpellingTests {
  @Test(
    "The distance counts inserted, removed, replaced and swapped letters",
    arguments: [
      ("match", "match", 0), ("mtach", "match", 1), ("matc", "match", 1), ("matchh", "match", 1),
      ("natch", "match", 1), ("", "match", 5), ("abc", "xyz", 3),
    ])
  func distance(first: String, second: String, distance: Int) {
    #expect(Spelling.distance(Array(first), Array(second)) == distance)
    #expect(Spelling.distance(Array(second), Array(first)) == distance)
  }

  @Test("The nearest name is suggested, a unique beginning too, and nothing for another word")
  func nearest() {
    let names = ["demo", "keyfile", "match", "score", "serve"]
    #expect(Spelling.nearest(to: "keyfil", among: names) == "keyfile")
    #expect(Spelling.nearest(to: "MATCH", among: names) == "match")
    #expect(Spelling.nearest(to: "serv", among: names) == "serve")
    #expect(Spelling.nearest(to: "ke", among: names) == "keyfile")
    #expect(Spelling.nearest(to: "s", among: names) == nil)
    #expect(Spelling.nearest(to: "xyzzy", among: names) == nil)
    #expect(Spelling.nearest(to: "--verison", among: ["--help", "--version"]) == "--version")
  }
}
