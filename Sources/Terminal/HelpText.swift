// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The width at which the help of commands is wrapped.
///
/// The argument parser wraps most of its help itself, at the value of `COLUMNS` or the width of the terminal. It cannot
/// do so in few columns, and leaves some lines whole.
package struct HelpText: Equatable {
  /// The number of columns.
  package let width: Int

  /// The width of a file or a pipe.
  static let widthOfFiles = 80
  private static let beginning = "OVERVIEW: "
  /// The smallest width: the parser needs 26 columns for the names of options.
  static let widthMin = 40

  /// The help on the stream with this descriptor. `COLUMNS` replaces the width that the terminal reports.
  package init(descriptor: Int32, environment: [String: String]) {
    self.init(
      environment: environment, reportedWidth: TerminalStyle.reportedWidth(of: descriptor))
  }

  /// The help on a terminal that reports this width, or in a file if it is nil.
  package init(environment: [String: String], reportedWidth: Int?) {
    let width = TerminalStyle.columns(in: environment) ?? reportedWidth ?? Self.widthOfFiles
    self.width = max(width, Self.widthMin)
  }

  /// The help with its longer lines wrapped between words; the new lines keep the indentation. Another text, such as
  /// the script of a completion, stays as it is.
  package func wrapped(_ text: String) -> String {
    guard text.hasPrefix(Self.beginning) else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map(line)
      .joined(separator: "\n")
  }

  private func line(_ line: Substring) -> String {
    guard line.count > width else { return String(line) }
    let indentation = line.prefix { $0 == " " }
    let style = TerminalStyle(
      hasColor: false, overwritesLines: false, width: width - indentation.count)
    return style.wrapped(String(line.dropFirst(indentation.count)))
      .map { indentation + $0 }.joined(separator: "\n")
  }
}
