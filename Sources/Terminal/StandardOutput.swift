// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The standard output; a write that fails is an error and not a crash.
package enum StandardOutput {
  /// Writes a line without buffering, so that the reader of a pipe receives it at once.
  ///
  /// - Throws: A `CommandFailure`, without a message if the reader has closed the pipe, as `head` does.
  package static func write(_ text: String) throws(CommandFailure) {
    var rest = Array((text + "\n").utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(errno) }
      rest = rest.dropFirst(count)
    }
  }

  private static func failure(_ code: Int32) -> CommandFailure {
    let reason = String(cString: strerror(code)).lowercased()
    return CommandFailure(
      status: .machineFailed,
      message: code == EPIPE
        ? "" : "The output could not be written (\(reason)): redirect it to a disk with free space."
    )
  }
}

/// Prints a value as one JSON object on stdout, keys sorted.
package func printJSON(_ value: some Encodable) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  try StandardOutput.write(String(decoding: try encoder.encode(value), as: UTF8.self))
}

/// Prints a remark on stderr, so that stdout contains only the result.
package func note(_ message: String) {
  // Without a reader there is nothing left to report to.
  try? FileHandle.standardError.write(contentsOf: Data("firebreak: \(message)\n".utf8))
}

/// The exit status of a command.
package enum ExitStatus: Int32 {
  /// Yes, or done; a search without results is also done.
  case done = 0
  /// The result is no.
  case no = 1
  /// Bad input or bad usage: change the command.
  case badInput = 2
  /// The disk, the network or the database failed: try again.
  case machineFailed = 3
}

/// An error that ends a command, with the message for stderr.
package struct CommandFailure: Error {
  package let status: ExitStatus
  package let message: String

  /// Creates an error; nothing is printed for an empty message.
  package init(status: ExitStatus, message: String) {
    self.status = status
    self.message = message
  }

  /// Bad input: `message` says what to change.
  package static func badInput(_ message: String) -> CommandFailure {
    CommandFailure(status: .badInput, message: message)
  }
}

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

extension String {
  /// The text with control and format characters replaced: untrusted text must not move a terminal's cursor.
  package var printable: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { scalar in
          let isSafe =
            scalar.properties.generalCategory != .control
            && scalar.properties.generalCategory != .format
          return isSafe ? scalar : "\u{fffd}"
        }))
  }
}
