// SPDX-License-Identifier: Apache-2.0
import QuietHTTP
import Terminal

/// An error of an operation on the servers, with the sentence for the operator.
package struct OperationFailure: Error, Sendable {
  /// The reaction that an error asks of the operator.
  package enum Cause: Sendable {
    /// The input, the settings or a file of the servers have to be changed.
    case badInput
    /// The disk, the network or the database failed: try again.
    case machineFailed
  }

  package let cause: Cause
  /// The fault, its cause and the remedy, in one sentence for the operator.
  package let message: String

  package init(cause: Cause, message: String) {
    self.cause = cause
    self.message = message
  }

  /// Bad input: `message` says what to change.
  package static func badInput(_ message: String) -> OperationFailure {
    OperationFailure(cause: .badInput, message: message)
  }

  /// A failure of the machine: `message` says what to check.
  package static func machineFailed(_ message: String) -> OperationFailure {
    OperationFailure(cause: .machineFailed, message: message)
  }

  /// Runs `read`, which reads a file of the operator, and turns its `CommandFailure` into an `OperationFailure`.
  package static func reading<Result>(_ read: () throws -> Result) throws -> Result {
    do { return try read() } catch let failure as CommandFailure {
      throw OperationFailure(
        cause: failure.status == .machineFailed ? .machineFailed : .badInput,
        message: failure.message)
    }
  }
}

extension OperationFailure: CustomStringConvertible {
  package var description: String { message }
}

extension OperationFailure: LoggableError {
  package var logText: String { message }
}
