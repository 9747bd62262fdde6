// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A thing besides its own process that a test needs.
///
/// `make check` leaves out the tests that need something, because most of them are slow. A test declares its need with
/// a trait. A house test and `requireDeclaration` find tests that do not.
public enum TestNeed: String, CaseIterable, Sendable {
  /// Another program.
  case process = "another process"
  /// A browser, which is also a process.
  case browser = "a browser"
  /// Two virtual Bluetooth controllers, which are a process too.
  case controllers = "virtual Bluetooth controllers"
  /// A small file system. Without root permissions the test is skipped.
  case smallDisk = "root permissions to mount a small file system"

  /// The beginning of the reason for which `make check` skips a test. `scripts/run-tests` counts these tests.
  static let leftOut = "left to make test"

  /// True in `make check`.
  private static let areLeftOut =
    ProcessInfo.processInfo.environment["FIREBREAK_CHECK"] == "1"

  /// False for a need that `make check` leaves out.
  var isMet: Bool {
    !Self.areLeftOut && (self != .smallDisk || SmallDisk.isAvailable)
  }

  fileprivate var reason: Comment {
    Self.areLeftOut ? "\(Self.leftOut): needs \(rawValue)" : "needs \(rawValue)"
  }

  /// Records an issue if this is `make check`: the arguments of a test had to leave out what needs something.
  static func requireCompleteRun(for need: TestNeed) {
    guard areLeftOut else { return }
    Issue.record("make check runs what needs \(need.rawValue): leave it out of the arguments")
  }

  /// Records an issue if the current test has not declared a need. Programs other than tests need not.
  static func requireDeclaration(of need: TestNeed) {
    guard let test = Test.current else { return }
    let reasons = Set(allCases.map(\.reason))
    guard !test.traits.contains(where: { !reasons.isDisjoint(with: $0.comments) }) else { return }
    Issue.record("The test needs \(need.rawValue): add the trait .needs(.\(need))")
  }
}

extension Trait where Self == ConditionTrait {
  /// Declares that a test, or every test of a suite, needs something besides its own process.
  public static func needs(_ need: TestNeed) -> Self {
    .enabled(if: need.isMet, need.reason)
  }
}
