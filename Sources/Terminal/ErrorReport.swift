// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings

/// The error of a command with `--json`: one JSON object in a line of stderr.
package struct ErrorReport: Codable, Equatable {
  package let error: String
  package let exitCode: Int32

  package init(_ message: String, status: ExitStatus) {
    error = message
    exitCode = status.rawValue
  }

  package func writeToStandardError() {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // A text and a number can always be encoded.
    guard let line = try? encoder.encode(self) else { return }
    // Without a reader there is nothing left to report to.
    try? FileHandle.standardError.write(contentsOf: line + Data("\n".utf8))
  }

  /// The error in the last line of another `firebreak` process's stderr; nil if it wrote nothing.
  package static func reason(in errors: String) -> String? {
    guard let line = errors.split(separator: "\n").last else { return nil }
    if let report = JSONDecoder().decodeIfValid(Self.self, from: Data(line.utf8)) {
      return report.error
    }
    let prefix = "firebreak: "
    return String(line.hasPrefix(prefix) ? line.dropFirst(prefix.count) : line)
  }
}
