import Foundation

/// How far long work has come, on one line of a terminal's standard error; silent elsewhere.
struct ProgressLine {
  private static let width = 30
  private static let eraseLine = "\r\u{1B}[K"
  /// What is counted, such as `trials`.
  let what: String
  private let isShown = isatty(STDERR_FILENO) == 1

  init(what: String) {
    self.what = what
  }

  func show(_ done: Int, of all: Int) {
    let filled = all > 0 ? Self.width * done / all : Self.width
    let bar = String(repeating: "#", count: filled)
      .padding(toLength: Self.width, withPad: ".", startingAt: 0)
    write("\(Self.eraseLine)[\(bar)] \(done) of \(all) \(what)")
  }

  func clear() {
    write(Self.eraseLine)
  }

  private func write(_ text: String) {
    if isShown { FileHandle.standardError.write(Data(text.utf8)) }
  }
}
