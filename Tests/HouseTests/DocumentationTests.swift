// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("Documentation")
struct DocumentationTests {
  private static let promises = Project.text(PromiseRule.page) ?? ""

  @Test("Links lead to existing pages and headings")
  func links() {
    let paths = Set(Project.paths)
    for page in Project.pages {
      record(
        LinkRule.violations(
          inPage: page, text: Project.text(page) ?? "", exists: paths.contains, read: Project.text))
    }
    record(Project.checkedForText.flatMap { LinkRule.violations(in: $0, exists: paths.contains) })
  }

  @Test("Every step of the walks exists")
  func walkSteps() throws {
    let walks = Walk.walks(in: try #require(Project.text(Walk.page)))
    #expect(walks.count == 2)
    let files = Dictionary(uniqueKeysWithValues: Project.sources.map { ($0.path, $0) })
    for walk in walks { record(walk.violations(files: files)) }
  }

  @Test("An uploaded key passes through at most 45 files, a beacon through at most 40")
  func walkLengths() throws {
    let walks = Walk.walks(in: try #require(Project.text(Walk.page)))
    for (walk, filesMax) in zip(walks, [45, 40]) {
      #expect(walk.steps.count > 10)
      #expect(walk.files.count <= filesMax, "\(walk.title): \(walk.files.count) files")
    }
  }

  @Test(
    "Every promise names tests that exist",
    arguments: [
      "Contracts", "Limits", "Published failures", "Stored data", "Matching", "Web app", "Town",
    ])
  func promises(_ heading: String) {
    let rows = PromiseRule.rows(in: Self.promises, under: heading)
    #expect(rows.count > 10)
    for row in rows { record(PromiseRule.violations(in: row, tests: Project.tests)) }
  }

  @Test("Each of the sixteen published failures of national services is injected, or has a reason")
  func publishedFailures() {
    let rows = PromiseRule.rows(in: Self.promises, under: "Published failures")
    #expect(rows.count == 16)
    #expect(rows.count { $0.tests.contains { $0.hasPrefix("CanaryTests/") } } >= 7)
  }

  @Test(
    "Every promise of SECURITY.md about failing servers and recoveries names tests that exist",
    arguments: ["Servers that fail", "Recoveries"])
  func securityPromises(heading: String) throws {
    let text = try #require(Project.text("SECURITY.md"))
    let rows = PromiseRule.rows(in: text, under: heading)
    #expect(rows.count > 10)
    for row in rows { record(PromiseRule.violations(in: row, tests: Project.tests)) }
  }

  @Test("Every limit of the servers and of the HCI host has one row in the table of limits")
  func limits() {
    let rows = PromiseRule.rows(in: Self.promises, under: "Limits")
    let listed = rows.map { $0.subject.filter { $0 != "`" } }
    #expect(Set(listed).count == listed.count, "a limit is listed twice")
    let targets = [
      "QuietHTTP", "StrictJSON", "UploadToken", "KeyServerAPI", "KeyServer", "VerificationServer",
      "Bluetooth", "PWA", "ServerStorage", "HealthAuthorityConsole", "Classroom",
    ]
    let limits = Project.sources.filter { targets.contains($0.target ?? "") }.flatMap(Self.limits)
    #expect(limits.count > 80)
    let missing = Set(limits).subtracting(listed).sorted()
    #expect(missing.isEmpty, "list these in \(PromiseRule.page): \(missing)")
    let unknown = listed.filter { $0.contains("Limit.") && !limits.contains($0) }
    #expect(unknown.isEmpty, "these limits do not exist: \(unknown)")
  }

  /// The constants of the enums in `file` whose names end with `Limit`.
  private static func limits(in file: SourceFile) -> [String] {
    let declaration = /^(?:public |package )?enum (\w+Limit)\b/
    let constant = /^  (?:public |package )?static let (\w+)/
    var (found, limit): ([String], String?) = ([], nil)
    for line in file.code {
      if let match = line.firstMatch(of: declaration) {
        limit = String(match.1)
      } else if line.hasPrefix("}") {
        limit = nil
      } else if let limit, let match = line.firstMatch(of: constant) {
        found.append("\(limit).\(match.1)")
      }
    }
    return found
  }
}
