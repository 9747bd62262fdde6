import ArgumentParser
import DiagnosisKeyFile
import Foundation

/// The exit status of a command.
enum ExitStatus: Int32 {
  /// Yes, or done; a search without results is also done.
  case done = 0
  /// The result is no.
  case no = 1
  /// Bad input or bad usage: change the command.
  case badInput = 2
  /// The disk, the network or the database failed: try again.
  case machineFailed = 3

  /// The exit status of a command that threw `error`.
  init(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure.status
    case let error as KeyFileError: self = error.exitStatus
    case let code as ExitCode: self = ExitStatus(rawValue: code.rawValue) ?? .badInput
    default: self = Self.status(ofForeign: error)
    }
  }

  /// The text that is printed for `error`.
  static func sentence(for error: any Error) -> String {
    switch error {
    case let failure as CommandFailure: failure.sentence
    case let error as KeyFileError: error.description
    case let error as CocoaError: error.localizedDescription
    default: Self.sentence(forForeign: error)
    }
  }

  /// Errors of the argument parser are bad usage or a request for help; others are of the system.
  private static func status(ofForeign error: any Error) -> ExitStatus {
    switch Firebreak.exitCode(for: error) {
    case .success: .done
    case .validationFailure: .badInput
    default: .machineFailed
    }
  }

  /// Help keeps its lines; an error becomes one line.
  private static func sentence(forForeign error: any Error) -> String {
    guard status(ofForeign: error) != .done else { return Firebreak.fullMessage(for: error) }
    return Firebreak.message(for: error).split(separator: "\n").joined(separator: " ")
  }
}

/// An error that ends a command, with the sentence for stderr.
struct CommandFailure: Error {
  let status: ExitStatus
  let sentence: String

  /// Bad input: `sentence` says what to change.
  static func badInput(_ sentence: String) -> CommandFailure {
    CommandFailure(status: .badInput, sentence: sentence)
  }
}
