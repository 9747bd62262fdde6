import Foundation
import Testing

/// servers.md is the reference that both servers are measured by; Documentation/ShownBy.md 1 says which test shows
/// which of its sections, and 2 which test holds which limit; 3 the same of the paragraphs on matching.
@Suite("What the servers and the matcher promise is shown by tests")
struct ShownByTests {
  private static let page = House.text(ShownByRule.page) ?? ""

  private func expectNone(_ findings: [Finding]) {
    for finding in findings { Issue.record(Comment(rawValue: finding.description)) }
  }

  @Test("Every section of the reference that speaks of these servers names its tests")
  func sections() {
    let rows = ShownByRule.rows(in: Self.page, under: "1. ")
    let sections = rows.compactMap { $0.subject.split(separator: " ").first.map(String.init) }
    let contracts = (1...8).map { "2.\($0)" } + ["2.11"]
    #expect(sections == contracts + (1...16).map { "5.\($0)" })
    for (row, section) in zip(rows, sections) {
      expectNone(ShownByRule.findings(in: row, section: section, tests: House.tests))
    }
  }

  @Test("Every test that names a defect of the reference is in the table")
  func defects() {
    let named = Set(
      ShownByRule.rows(in: Self.page, under: "1. ").flatMap(\.tests).map {
        $0.split(separator: "/").last.map(String.init) ?? $0
      })
    for file in House.tests where !file.path.hasPrefix("Tests/HouseTests/") {
      for line in file.lines where line.firstMatch(of: #/"(2\.11, )?5\.\d+ /#) != nil {
        let isNamed = named.contains { name in
          let words = name.split(separator: ".").map(String.init)
          return !file.matches(#"\bstruct \#(words[0])\b"#).isEmpty
        }
        #expect(isNamed, "\(file.path) names a defect that no row of the table speaks of: \(line)")
      }
    }
  }

  @Test("Every limit of the servers has its row, and every row its test")
  func limits() {
    let rows = ShownByRule.rows(in: Self.page, under: "2. ")
    let listed = rows.map { $0.subject.filter { $0 != "`" } }
    #expect(Set(listed).count == listed.count, "a limit is listed twice")
    let rooms = ["QuietHTTP", "UploadToken", "KeyServerAPI", "KeyServer", "VerificationServer"]
    let files = House.sources.filter {
      rooms.contains($0.room ?? "") && $0.name.hasSuffix("Limit.swift")
    }
    let limits = files.flatMap { file in
      file.matches(#"^  (public |package )?static let \w+"#).compactMap { match in
        match.text.firstMatch(of: /let (\w+)/).map {
          "\(file.name.dropLast(".swift".count)).\($0.1)"
        }
      }
    }
    #expect(limits.count > 80)
    #expect(Set(limits).subtracting(listed).sorted() == [], "list these in \(ShownByRule.page)")
    for row in rows { expectNone(ShownByRule.findings(in: row, section: nil, tests: House.tests)) }
  }

  @Test("Every paragraph on matching has its row, and every row its test")
  func paragraphs() throws {
    let rows = ShownByRule.rows(in: Self.page, under: "3. ")
    let page = try #require(House.text("Documentation/Matching.md"))
    let paragraphs = page.split(separator: "\n").compactMap { line in
      line.prefixMatch(of: /\d+\.\d+(?= )/).map { String($0.0) }
    }
    #expect(paragraphs.count > 20)
    #expect(rows.map { $0.subject.split(separator: " ").first.map(String.init) } == paragraphs)
    for row in rows { expectNone(ShownByRule.findings(in: row, section: nil, tests: House.tests)) }
  }

  @Test("A row without a test, with one that is gone or with one of another section is found")
  func control() {
    let tests = [
      SourceFile(
        path: "Tests/A/B.swift",
        text: """
          @Suite("Servers 2.1: b")
          struct B {
            @Test(
              "5.1 c")
            func c() {}
            func d() {}
          }
          """)
    ]
    for (cells, section, count) in [
      ("| 2.1 x | `A/B` |", "2.1", 0), ("| 2.1 x | `A/B.c` |", "2.1", 0),
      ("| 5.1 x | `A/B.c` |", "5.1", 0), ("| 5.1 x | `A/B` |", "5.1", 1),
      ("| 5.11 x | `A/B.c` |", "5.11", 1), ("| 2.1 x | `A/B.d` |", "2.1", 1),
      ("| 2.1 x | `A/C` |", "2.1", 1), ("| 2.1 x | nothing |", "2.1", 1),
      ("| 2.1 x | — there is none |", "2.1", 0), ("| 2.1 x | `B.c` |", "2.1", 1),
    ] {
      let rows = ShownByRule.rows(in: "## 4. x\n\n\(cells)\n## 5. y", under: "4. ")
      #expect(rows.count == 1)
      let found = rows.flatMap { ShownByRule.findings(in: $0, section: section, tests: tests) }
      #expect(found.count == count, "\(cells) \(found)")
    }
  }
}
