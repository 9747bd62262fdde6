import Foundation

/// The standard output, where a write that fails is an ending of the command and never a crash.
enum StandardOutput {
  /// Writes `text` and the end of its line at once: a story in a pipe is read as it happens.
  ///
  /// - Throws: a `CommandFailure` where the output takes no more, without a sentence where its reader
  ///   has gone on purpose, as `head` does.
  static func write(_ text: String) throws(CommandFailure) {
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
      sentence: code == EPIPE
        ? "" : "The output could not be written (\(reason)): give it a place that takes it.")
  }
}
