// SPDX-License-Identifier: Apache-2.0

/// The line that `--version` prints.
package struct VersionLine {
  package let text: String

  /// The line for a build of `commit` by `compiler`, each of which is empty if it is not known.
  package init(number: String, commit: String, compiler: String = "") {
    let program = commit.isEmpty ? "firebreak \(number)" : "firebreak \(number) (\(commit))"
    text = compiler.isEmpty ? program : "\(program), \(compiler)"
  }
}
