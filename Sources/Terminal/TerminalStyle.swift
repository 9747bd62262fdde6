// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The abilities of the terminal behind an output stream: colors, a movable cursor, and its width.
///
/// The executable reads the environment and binds `standardError` for the time of a command.
package struct TerminalStyle: Sendable, Equatable {
  /// True if escape sequences for colors may be written.
  package let hasColor: Bool
  /// True if a line can be overwritten, as a progress bar needs it.
  package let overwritesLines: Bool
  /// The number of columns; nil if lines need not be wrapped.
  package let width: Int?

  /// The style of a file or a pipe.
  package static let plain = TerminalStyle(hasColor: false, overwritesLines: false, width: nil)

  /// The style of stderr for the running command.
  @TaskLocal package static var standardError = TerminalStyle.plain

  /// Terminals narrower than this are treated as if they had this width.
  private static let widthMin = 20

  package init(hasColor: Bool, overwritesLines: Bool, width: Int?) {
    self.hasColor = hasColor
    self.overwritesLines = overwritesLines
    self.width = width
  }

  /// The style of the stream with this descriptor.
  ///
  /// A `NO_COLOR` that is not empty turns colors off (https://no-color.org), `TERM=dumb` every escape sequence.
  /// `COLUMNS` replaces the width that the terminal reports.
  package init(descriptor: Int32, environment: [String: String]) {
    guard isatty(descriptor) == 1 else {
      self = .plain
      return
    }
    self.init(
      environment: environment, reportedWidth: Self.reportedWidth(of: descriptor))
  }

  /// The style of a terminal that reports this width.
  package init(environment: [String: String], reportedWidth: Int?) {
    let isDumb = ["dumb", ""].contains(environment["TERM", default: ""])
    let isColorless = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    self.init(
      hasColor: !isDumb && !isColorless, overwritesLines: !isDumb,
      width: (Self.columns(in: environment) ?? reportedWidth).map { max($0, Self.widthMin) })
  }

  /// The value of `COLUMNS`; nil if it is not a width.
  static func columns(in environment: [String: String]) -> Int? {
    environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
  }

  static func reportedWidth(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// The text in the color of the code, such as 32 for green.
  package func colored(_ text: String, _ code: Int) -> String {
    hasColor ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }

  /// The style for text that begins in a later column.
  package func narrowed(by columns: Int) -> TerminalStyle {
    TerminalStyle(
      hasColor: hasColor, overwritesLines: overwritesLines,
      width: width.map { max($0 - columns, Self.widthMin) })
  }

  /// The text in lines that fit; a longer word stays whole.
  package func wrapped(_ text: String) -> [String] {
    guard let width, text.count > width else { return [text] }
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
