// SPDX-License-Identifier: Apache-2.0
/// The version of the product, and the commit that it was built from.
enum ProductVersion {
  /// The newest version in CHANGELOG.md.
  static let number = "0.2.0"

  /// The line that `--version` prints.
  static var line: String { line(commit: BuildCommit.name, compiler: BuildCommit.compiler) }

  /// The line for a build of `commit` by `compiler`, each of which is empty if it is not known.
  static func line(commit: String, compiler: String = "") -> String {
    let program = commit.isEmpty ? "firebreak \(number)" : "firebreak \(number) (\(commit))"
    return compiler.isEmpty ? program : "\(program), \(compiler)"
  }
}
