// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A progress bar on standard error; prints nothing if that is not a terminal.
package struct ProgressLine {
  private static let width = 30
  private static let eraseLine = "\r\u{1B}[K"
  /// The counted items, such as `trials`.
  package let items: String
  private let isShown = isatty(STDERR_FILENO) == 1

  package init(_ items: String) {
    self.items = items
  }

  package func show(_ done: Int, of all: Int) {
    let filled = all > 0 ? Self.width * done / all : Self.width
    let bar = String(repeating: "#", count: filled)
      .padding(toLength: Self.width, withPad: ".", startingAt: 0)
    write("\(Self.eraseLine)[\(bar)] \(done) of \(all) \(items)")
  }

  package func clear() {
    write(Self.eraseLine)
  }

  private func write(_ text: String) {
    if isShown { FileHandle.standardError.write(Data(text.utf8)) }
  }
}
