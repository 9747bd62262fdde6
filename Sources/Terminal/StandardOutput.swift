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
    return CommandFailure.machineFailed(
      code == EPIPE
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

/// The place of remarks.
package enum Remarks {
  /// The log of the command, if its stderr has another form than lines of text.
  @TaskLocal package static var log: (@Sendable (String) -> Void)?
}

/// Prints a remark on stderr, so that stdout contains only the result, or adds it to the log of the command.
package func note(_ message: String) {
  if let log = Remarks.log { return log(message) }
  // Without a reader there is nothing left to report to.
  try? FileHandle.standardError.write(contentsOf: Data("firebreak: \(message)\n".utf8))
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
