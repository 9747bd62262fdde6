// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Tests that need another process, a browser, virtual controllers or a small disk declare it with `.needs(...)`, so
/// that `make check` leaves them out.
///
/// The rule knows the types of the test support that start or mount something, and the types of the same test target
/// that use them. `TestNeed` finds the tests that reach them in another way, at run time.
enum NeedRule {
  private static let uses = """
    \\b(ChildProcess|BackgroundProcess|VirtualControllers|ServedFirebreak|ServedAuthority)\\b\
    |\\b(PhoneFixture|PublishedFiles|SmallDisk|SoftToken)\\b|\\b(Browser\\.withRunning|Run\\.product|Run\\(|Shell\\.run)
    """

  /// The files of one test target that have tests with an undeclared need, each with its first use.
  static func violations(in files: [SourceFile]) -> [Violation] {
    let (withTests, support) = files.partitioned { !$0.matches("@Test\\b").isEmpty }
    let users = support.filter { !$0.matches(uses).isEmpty }.flatMap(types)
    let pattern = ([uses] + users.map { "\\b\($0)\\b" }).joined(separator: "|")
    let suites = files.flatMap(declaringSuites)
    return withTests.compactMap { file in
      guard let use = file.matches(pattern).first, !declares(file, within: suites) else {
        return nil
      }
      return file.violation(
        use.line, "a test needs something outside its process: add the trait .needs(...) to it")
    }
  }

  /// The types that a file declares.
  private static func types(in file: SourceFile) -> [String] {
    names(#"\b(?:struct|class|enum|actor)\s+(\w+)"#, in: file)
  }

  /// The suites whose attribute declares a need, for all tests in their extensions.
  private static func declaringSuites(in file: SourceFile) -> [String] {
    names(#"@Suite\([^{]*\.needs\([^{]*\)\s*(?:struct|class|enum|actor)\s+(\w+)"#, in: file)
  }

  private static func declares(_ file: SourceFile, within suites: [String]) -> Bool {
    !file.matches(#"\.needs\(\."#).isEmpty
      || names(#"\bextension\s+(\w+)"#, in: file).contains(where: suites.contains)
  }

  /// The first group of each match in the whole code.
  private static func names(_ pattern: String, in file: SourceFile) -> [String] {
    let code = file.code.joined(separator: "\n")
    guard let expression = try? NSRegularExpression(pattern: pattern) else {
      preconditionFailure("\(pattern) is not a regular expression")
    }
    return expression.matches(in: code, range: NSRange(code.startIndex..., in: code)).compactMap {
      Range($0.range(at: 1), in: code).map { String(code[$0]) }
    }
  }
}

extension Array {
  /// The elements that satisfy `isFirst`, and the others.
  fileprivate func partitioned(_ isFirst: (Element) -> Bool) -> (first: [Element], rest: [Element])
  {
    (filter(isFirst), filter { !isFirst($0) })
  }
}
