// SPDX-License-Identifier: Apache-2.0
/// The error of a command, or of an operation on the servers, with the sentence for the operator.
package struct CommandFailure: Error {
  package let status: ExitStatus
  /// The fault, its cause and the remedy, in one sentence.
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

  /// A failure of the machine: `message` says what to check.
  package static func machineFailed(_ message: String) -> CommandFailure {
    CommandFailure(status: .machineFailed, message: message)
  }
}

extension CommandFailure: CustomStringConvertible {
  package var description: String { message }
}
