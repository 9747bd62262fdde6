// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The program of all test targets, which runs them with Swift Testing.
///
/// SwiftPM looks for a file of this name. Without one it makes a program that asks the compiler's index for XCTest
/// classes: the index of every module would have to be written, an eighth of the compiler's work, and one more file
/// compiled for each test target.
@main
struct XCTMain {
  static func main() async {
    // Plain `swift test` starts a program with its own entry point for XCTest only; without this every test would run.
    guard CommandLine.arguments.contains("swift-testing") else {
      FileHandle.standardError.write(Data(advice.utf8))
      exit(EXIT_FAILURE)
    }
    // The entry point of SwiftPM's own program. It reads the arguments of `scripts/run-tests`, and exits.
    await Testing.__swiftPMEntryPoint() as Never
  }

  private static let advice =
    "There are no tests of XCTest: run `make build`, then `scripts/run-tests --filter REGEX`.\n"
}
