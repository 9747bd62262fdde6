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
