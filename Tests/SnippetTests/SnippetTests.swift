// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("Snippets of the framework's reference")
struct SnippetTests {
  private static let catalog = SharedData.projectRoot.appendingPathComponent(
    "Sources/ExposureNotification/ExposureNotification.docc")

  private static let pages: [String] =
    ((try? FileManager.default.contentsOfDirectory(atPath: catalog.path)) ?? [])
    .filter { $0.hasSuffix(".md") }.map { String($0.dropLast(3)) }.sorted()

  @Test("The catalog has pages")
  func found() {
    #expect(Self.pages.count >= 15)
  }

  @Test("A page shows the snippet that is compiled", arguments: pages)
  func shown(_ page: String) throws {
    let parts = try Self.snippetSources().components(separatedBy: "  // Page: \(page)\n")
    #expect(parts.count == 2, "\(page) has one snippet")
    let shown = try #require(parts.last?.components(separatedBy: "  // End of page.").first)
    let code = shown.components(separatedBy: "\n")
      .map { $0.hasPrefix("  ") ? String($0.dropFirst(2)) : $0 }.joined(separator: "\n")
    #expect(try Self.block(of: page, after: "```swift\n") == code)
  }

  @Test("A snippet prints the output on its page", .needs(.process), arguments: pages)
  func printed(_ page: String) async throws {
    let output = try await Self.output(of: page)
    #expect(try Self.block(of: page, after: "Prints:\n\n```\n") == output)
  }

  @Test("The first page lists every public type, constant and alias")
  func named() throws {
    let page = try Self.text(
      "Sources/ExposureNotification/ExposureNotification.docc/ExposureNotification.md")
    let sources = SharedData.projectRoot.appendingPathComponent("Sources/ExposureNotification")
    let files = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String }
    for file in (files ?? []).filter({ $0.hasSuffix(".swift") }) {
      let text = try Self.text("Sources/ExposureNotification/\(file)")
      let declaration =
        #/(?m)^(?:@\w+ )*(?:public|open) (?:final )?(?!func)\w+ (\w+)/#
      for match in text.matches(of: declaration) {
        #expect(page.contains("``\(match.1)``"), "\(file): add \(match.1) to a topic")
      }
    }
  }

  /// The text of all snippet files.
  private static func snippetSources() throws -> String {
    let folder = "Documentation/Snippets"
    let names = try FileManager.default.contentsOfDirectory(
      atPath: SharedData.projectRoot.appendingPathComponent(folder).path)
    return try names.filter { $0.hasSuffix(".swift") }.sorted()
      .map { try text("\(folder)/\($0)") }.joined()
  }

  private static func block(of page: String, after start: String) throws -> String {
    let text = try text("Sources/ExposureNotification/ExposureNotification.docc/\(page).md")
    let parts = text.components(separatedBy: start)
    #expect(parts.count == 2, "\(page) has one block of each kind")
    return try #require(parts.last?.components(separatedBy: "```").first)
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: SharedData.projectRoot.appendingPathComponent(path), encoding: .utf8)
  }

  private static func output(of page: String) async throws -> String {
    let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let snippets = bundle.deletingLastPathComponent().appendingPathComponent("snippets")
    // A device writes to the folder of its phone again after the page has ended.
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.url.path]) {
      $1
    }
    let result = try await ChildProcess.run(snippets, [page], environment: environment)
    #expect(result.status == 0, "\(result.errors)")
    return result.output
  }
}
