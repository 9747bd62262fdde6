// SPDX-License-Identifier: Apache-2.0
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
