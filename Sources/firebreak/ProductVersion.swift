// SPDX-License-Identifier: Apache-2.0
import Terminal

/// The version of the product, and the commit that it was built from.
enum ProductVersion {
  /// The newest version in CHANGELOG.md.
  static let number = "0.2.0"

  /// The line that `--version` prints.
  static var line: String {
    VersionLine(number: number, commit: BuildCommit.name, compiler: BuildCommit.compiler).text
  }
}
