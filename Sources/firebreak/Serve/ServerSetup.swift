import Foundation
import KeyServer
import Logging
import VerificationServer
import World

/// Makes the servers of one folder.
struct ServerSetup {
  let folder: ServerFolder
  let options: ServerOptions

  /// The verification server, which listens once it is run.
  ///
  /// - Throws: `CommandFailure` where the folder, the settings or the options do not make sense.
  func verificationServer(host: String, port: Int, logger: Logger) throws -> VerificationServer {
    try folder.verificationSettings.naming {
      try Self.refusing {
        try VerificationServer(
          configuration: try verificationConfiguration(host: host, port: port),
          clock: SystemClock(), randomness: SystemRandomness(), logger: logger)
      }
    }
  }

  /// The key server, which listens once it is run.
  ///
  /// - Throws: `CommandFailure` where the folder, the settings or the options do not make sense.
  func keyServer(host: String = "127.0.0.1", port: Int = 0, logger: Logger) throws -> KeyServer {
    try folder.keySettings.naming {
      try Self.refusing {
        try KeyServer(
          try keyConfiguration(host: host, port: port), clock: SystemClock(),
          randomness: SystemRandomness(), logger: logger)
      }
    }
  }

  /// Where API keys are made and revoked, beside the server.
  func apiKeyDesk() throws -> ApiKeyDesk {
    try folder.verificationSettings.naming {
      try Self.refusing {
        try ApiKeyDesk(
          configuration: verificationConfiguration(), clock: SystemClock(),
          randomness: SystemRandomness())
      }
    }
  }

  /// The same, where there is a database already: for commands that make none.
  func existingApiKeyDesk() throws -> ApiKeyDesk {
    guard FileManager.default.fileExists(atPath: folder.verificationDatabase.path),
      FileManager.default.fileExists(atPath: folder.verificationSecrets.url.path)
    else {
      throw CommandFailure.badInput(
        "The verification server of \(folder.url.path.printable) has no keys yet: add one, or start it"
          + " first.")
    }
    return try apiKeyDesk()
  }

  /// Refuses two servers of which one would take nothing that the other signs.
  func requireOneName() throws {
    let (signed, taken) = (try verificationSettings(), try keySettings())
    guard signed.issuer == taken.tokenIssuer, signed.audience == taken.tokenAudience else {
      throw CommandFailure.badInput(
        "The servers do not know each other: set issuer and audience in"
          + " \(folder.verificationSettings.url.path.printable) to tokenIssuer and tokenAudience in"
          + " \(folder.keySettings.url.path.printable).")
    }
  }

  /// A server's refusal, as a command refuses.
  static func refusing<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch let error as KeyServerError {
      throw CommandFailure(status: error.exitStatus, sentence: error.description)
    } catch let error as VerificationServerError {
      throw CommandFailure(status: error.exitStatus, sentence: error.description)
    }
  }
}

extension KeyServerError {
  /// How a command ends that the key server refused.
  var exitStatus: ExitStatus {
    if case .configuration = self { .badInput } else { .machineFailed }
  }
}

extension VerificationServerError {
  /// How a command ends that the verification server refused.
  var exitStatus: ExitStatus {
    if case .badConfiguration = self { .badInput } else { .machineFailed }
  }
}
