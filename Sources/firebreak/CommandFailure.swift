/// A command's ending that is not "done", with the sentence for stderr.
struct CommandFailure: Error {
  let status: ExitStatus
  let sentence: String

  /// Bad input: `sentence` says what to change.
  static func badInput(_ sentence: String) -> CommandFailure {
    CommandFailure(status: .badInput, sentence: sentence)
  }
}
