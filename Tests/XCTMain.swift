// SPDX-License-Identifier: Apache-2.0
import Testing

/// The program of all test targets, which runs them with Swift Testing.
///
/// SwiftPM looks for a file of this name. Without one it makes a program that asks the compiler's index for XCTest
/// classes: the index of every module would have to be written, an eighth of the compiler's work, and one more file
/// compiled for each test target.
@main
struct XCTMain {
  // The entry point that SwiftPM's own program calls. It reads the arguments that `scripts/run-tests` passes, and
  // exits.
  static func main() async {
    await Testing.__swiftPMEntryPoint() as Never
  }
}
