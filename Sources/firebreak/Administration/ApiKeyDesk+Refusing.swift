import VerificationServer

extension ApiKeyDesk {
  /// Does `work`, whose refusals become a command's.
  static func refusing<Result>(_ work: () async throws -> Result) async throws -> Result {
    do {
      return try await work()
    } catch let error as VerificationServerError {
      throw CommandFailure(status: error.exitStatus, sentence: error.description)
    }
  }
}
