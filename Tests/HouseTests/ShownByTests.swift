import Foundation
import Testing

/// servers.md and protego-safe.md are what both servers are measured by; Documentation/ShownBy.md 1 and 4 say which
/// test shows which of their sections, 5 which test keeps out which defect, 2 which test holds which limit; 3 the
/// same of the paragraphs on matching.
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
      for line in file.lines where line.firstMatch(of: #/\x22(2\.11, )?5\.\d+ /#) != nil {
        let isNamed = named.contains { name in
          let words = name.split(separator: ".").map(String.init)
          return !file.matches(#"\bstruct \#(words[0])\b"#).isEmpty
        }
        #expect(isNamed, "\(file.path) names a defect that no row of the table speaks of: \(line)")
      }
    }
  }

  @Test(
    "Every section of the seed contract that speaks of servers names its tests, or says why not")
  func seedSections() {
    let rows = ShownByRule.rows(in: Self.page, under: "4. ")
    let sections = rows.map { Self.subject(of: $0) }
    #expect(sections == (1...8).map { "2.\($0)" } + ["3", "4", "5", "6", "9.3"])
    for (row, section) in zip(rows, sections) {
      expectNone(
        ShownByRule.findings(in: row, section: section, of: .seed, tests: House.tests))
    }
    for title in Self.serverTitles {
      let strange = Reference.seed.shown(by: title.text).subtracting(sections)
      #expect(strange.isEmpty, "\(title.path) shows \(strange), of which no row speaks")
    }
  }

  @Test(
    "Every defect of the seed's servers names its tests, and every test that names one has a row")
  func seedDefects() {
    let rows = ShownByRule.rows(in: Self.page, under: "5. ")
    let defects = rows.map { Self.subject(of: $0) }
    #expect(defects == ((9...16).map { $0 } + [26, 36, 37, 38]).map { "D\($0)" })
    for (row, defect) in zip(rows, defects) {
      expectNone(
        ShownByRule.findings(in: row, section: defect, of: .defects, tests: House.tests))
    }
    for title in Self.serverTitles {
      for defect in Reference.defects.shown(by: title.text) {
        let tests = zip(rows, defects).filter { $1 == defect }.flatMap { $0.0.tests }
        let isNamed = tests.contains { title.path.hasSuffix("/\($0.prefix { $0 != "." }).swift") }
        #expect(isNamed, "\(title.path) names \(defect): name it in that row")
      }
    }
  }

  /// What the first cell of `row` begins with: the number of a section or of a defect.
  private static func subject(of row: ShownByRule.Row) -> String {
    String(row.subject.prefix { $0 != " " })
  }

  /// The titles of the tests of both servers and of their commands, each with its file.
  private static var serverTitles: [(path: String, text: String)] {
    let targets = ["KeyServer", "VerificationServer", "QuietHTTP", "UploadToken", "Firebreak"]
    return House.tests.filter { file in
      targets.contains { file.path.hasPrefix("Tests/\($0)") }
    }.flatMap { file in
      file.lines.compactMap { line in
        line.firstMatch(of: /^ *(?:@(?:Test|Suite)\()?\x22([^\x22]*)\x22/).map {
          (file.path, String($0.1))
        }
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

  @Test("A section of one text is not taken for the other's")
  func twoTexts() {
    for (title, servers, seed, defects) in [
      ("2.5 x", ["2.5"], [], []), ("Seed 2.5: x", [], ["2.5"], []),
      ("Seed 2.1, 2.4 and 3: x 7.7", ["7.7"], ["2.1", "2.4", "3"], []),
      ("2.11, 5.10 D9 Of 3", ["2.11", "5.10"], [], ["D9"]), ("Seed 2: D10 x", [], ["2"], ["D10"]),
      ("D1000 and aD1", [], [], []),
    ] as [(String, Set<String>, Set<String>, Set<String>)] {
      #expect(Reference.servers.shown(by: title) == servers, "\(title)")
      #expect(Reference.seed.shown(by: title) == seed, "\(title)")
      #expect(Reference.defects.shown(by: title) == defects, "\(title)")
    }
  }
}
