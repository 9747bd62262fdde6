// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("Topics of the framework's reference")
struct TopicTests {
  private static let folder = SharedData.projectRoot.appendingPathComponent(
    "Sources/ExposureNotification")

  private static func texts(_ ending: String) throws -> [String: String] {
    let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
    return try (names ?? []).filter { $0.hasSuffix(ending) }.reduce(into: [:]) { texts, name in
      let file = folder.appendingPathComponent(name)
      let page = file.deletingPathExtension().lastPathComponent
      texts[page] = try String(contentsOf: file, encoding: .utf8)
    }
  }

  /// The entries of the topics of all pages, as paths from the module; articles as `doc:` and page.
  private static func topics() throws -> [String] {
    try texts(".md").flatMap { _, text in
      let parts = text.components(separatedBy: "\n## Topics\n")
      guard parts.count == 2 else { return [String]() }
      let title = text.firstMatch(of: #/^# ``([^`]+)``/#).map { "\($0.1)" } ?? ""
      let context = title == "ExposureNotification" || title.isEmpty ? "" : "\(title)/"
      return parts[1].components(separatedBy: "\n").compactMap { line in
        if let match = line.wholeMatch(of: #/- ``(.+)``/#) { return context + match.1 }
        if let match = line.wholeMatch(of: #/- <(doc:\w+)>/#) { return "\(match.1)" }
        return nil
      }
    }
  }

  private static func parent(of name: String) -> String {
    name.split(separator: "/").dropLast().joined(separator: "/")
  }

  @Test("Each public name is in one group of one page, and the groups have no other entries")
  func placed() throws {
    let names = PublicNames(of: Array(try Self.texts(".swift").values)).names
    #expect(names.count > 250 && names.contains("ENManager/activate()"))
    let topics = try Self.topics().filter { !$0.hasPrefix("doc:") }
    #expect(Set(names).subtracting(topics).sorted() == [], "add these to a group")
    #expect(Set(topics).subtracting(names).sorted() == [], "not declared")
    let repeated = Dictionary(grouping: topics) { $0 }.filter { $0.value.count > 1 }
    #expect(repeated.keys.sorted() == [], "listed more than once")
  }

  @Test("Each article is in one group, and each type with members has a page")
  func pages() throws {
    let texts = try Self.texts(".md")
    let articles = texts.filter { !$0.value.hasPrefix("# ``") }.keys.map { "doc:\($0)" }
    let listed = try Self.topics().filter { $0.hasPrefix("doc:") }
    #expect(articles.sorted() == listed.sorted() && !articles.isEmpty)
    let names = PublicNames(of: Array(try Self.texts(".swift").values)).names
    let types = Set(names.filter { $0.contains("/") }.map(Self.parent))
    let titles = texts.values.compactMap { $0.firstMatch(of: #/^# ``([^`]+)``/#).map { "\($0.1)" } }
    #expect(types.subtracting(titles).sorted() == [], "add a page")
  }

  @Test("Names are read from sources in DocC's form")
  func names() {
    let source = """
      /// public struct Comment {}
      public enum Way: Int {
        case left(_ by: Int, quickly: Bool)
        case `internal` = 3
        var hidden: Int { 0 }
        public enum Kind {
          case one
        }
      }
      extension Way.Kind {
        public static func ~= (way: Self, error: any Error) -> Bool { true }
        public func go<Value: Equatable>(
          _ path: KeyPath<Way, Value>, options: [Int] = [], then: (Int, Int) -> Void
        ) async -> Value {
          case one
        }
      }
      extension Progress {
        public convenience init(foreign: Void = ()) {}
      }
      struct Inner {
        public let unseen = 0
      }
      public protocol Asking: Sendable {
        func ask(_ question: Int, of person: Int) async -> Bool
      }
      public typealias Answer = (Int, Int) -> Void
      """
    #expect(
      PublicNames(of: [source]).names == [
        "Answer", "Asking", "Asking/ask(_:of:)", "Way", "Way/Kind",
        "Way/Kind/go(_:options:then:)", "Way/Kind/one", "Way/Kind/~=(_:_:)",
        "Way/internal", "Way/left(_:quickly:)",
      ])
  }
}
