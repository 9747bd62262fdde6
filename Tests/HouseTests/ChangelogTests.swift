// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("CHANGELOG.md")
struct ChangelogTests {
  @Test("The newest version is the version that the product prints")
  func newest() throws {
    let versions = try #require(Project.text("CHANGELOG.md"))
      .matches(of: #/(?m)^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$/#).map { String($0.1) }
    let source = try #require(Project.text("Sources/firebreak/ProductVersion.swift"))
    let number = try #require(source.firstMatch(of: #/static let number = "([\d.]+)"/#)).1
    #expect(versions.first == String(number))
    #expect(versions.count >= 2)
  }

  @Test("Unreleased changes come first, and versions descend")
  func order() throws {
    let text = try #require(Project.text("CHANGELOG.md"))
    let titles = text.matches(of: #/(?m)^## \[([^\]]+)\]/#).map { String($0.1) }
    #expect(titles.first == "Unreleased")
    let numbers = titles.dropFirst().map { $0.split(separator: ".").compactMap { Int($0) } }
    #expect(numbers.allSatisfy { $0.count == 3 })
    for (newer, older) in zip(numbers, numbers.dropFirst()) {
      #expect(older.lexicographicallyPrecedes(newer))
    }
  }
}
