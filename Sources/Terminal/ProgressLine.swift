// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A progress bar on standard error; prints nothing if that is not a terminal that can overwrite a line.
package struct ProgressLine: Sendable {
  private static let widthMax = 30
  private static let eraseLine = "\r\u{1B}[K"
  /// The counted items, such as `trials`.
  package let items: String
  private let style: TerminalStyle

  package init(_ items: String, style: TerminalStyle = .standardError) {
    self.items = items
    self.style = style
  }

  package func show(_ done: Int, of all: Int) {
    write(Self.eraseLine + text(done, of: all))
  }

  /// Shows a step whose length is not known.
  package func show(_ step: String) {
    write(Self.eraseLine + fitted(step))
  }

  package func clear() {
    write(Self.eraseLine)
  }

  /// The bar and the counts, in one line of the terminal.
  package func text(_ done: Int, of all: Int) -> String {
    let counts = "\(done) of \(all) \(items)"
    let room = lineWidth.map { $0 - counts.count - "[] ".count } ?? Self.widthMax
    let width = min(room, Self.widthMax)
    guard width > 0 else { return fitted(counts) }
    let filled = all > 0 ? min(width * done / all, width) : width
    let bar = String(repeating: "#", count: filled)
      .padding(toLength: width, withPad: ".", startingAt: 0)
    return "[\(bar)] \(counts)"
  }

  /// The last column stays free: some terminals begin a new line when it is written.
  private var lineWidth: Int? { style.width.map { $0 - 1 } }

  private func fitted(_ text: String) -> String {
    lineWidth.map { String(text.prefix($0)) } ?? text
  }

  private func write(_ text: String) {
    if style.overwritesLines { FileHandle.standardError.write(Data(text.utf8)) }
  }
}
