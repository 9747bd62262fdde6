import ArgumentParser
import DiagnosisKeyFile
import Foundation

/// The four ways a command ends.
enum ExitStatus: Int32 {
  /// Yes, or done; finding nothing is also done.
  case done = 0
  /// The answer is no.
  case no = 1
  /// Bad input or bad usage: change the command.
  case badInput = 2
  /// The disk, the network or the database failed: try again.
  case machineFailed = 3

  /// How a command that threw `error` ends.
  init(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure.status
    case let error as KeyFileError: self = error.exitStatus
    case let code as ExitCode: self = ExitStatus(rawValue: code.rawValue) ?? .badInput
    default: self = Self.status(ofForeign: error)
    }
  }

  /// What the person is told about `error`.
  static func sentence(for error: any Error) -> String {
    switch error {
    case let failure as CommandFailure: failure.sentence
    case let error as KeyFileError: error.description
    case let error as CocoaError: error.localizedDescription
    default: Self.sentence(forForeign: error)
    }
  }

  /// The parser's own errors are bad usage, or a wish for help; all others are the system's.
  private static func status(ofForeign error: any Error) -> ExitStatus {
    switch Firebreak.exitCode(for: error) {
    case .success: .done
    case .validationFailure: .badInput
    default: .machineFailed
    }
  }

  /// Help is shown as it is laid out, a refusal in one line.
  private static func sentence(forForeign error: any Error) -> String {
    guard status(ofForeign: error) != .done else { return Firebreak.fullMessage(for: error) }
    return Firebreak.message(for: error).split(separator: "\n").joined(separator: " ")
  }
}
