import CallableEnvelope
import Foundation
import VerificationAPI

/// What the servers' answers mean to an upload.
enum UploadAnswers {
  /// The token in the verification server's answer, or why there is none.
  static func token(in answer: NetworkAnswer) throws(UploadReason) -> String {
    switch answer.status {
    case 200:
      let decoded = try? JSONDecoder().decode(
        CallableAnswer<AccessTokenAnswer>.self, from: answer.body)
      guard let decoded else { throw .serverBusy(retryAfterSeconds: nil) }
      return decoded.result.accessToken
    case 400, 404: throw .pinRefused
    default: throw .serverBusy(retryAfterSeconds: answer.retryAfterSeconds)
    }
  }

  /// Returns where the key server has the keys.
  static func accepted(_ answer: NetworkAnswer) throws(UploadReason) {
    switch answer.status {
    case 200: return
    case 400, 401, 413, 415: throw .uploadRefused
    default: throw .serverBusy(retryAfterSeconds: answer.retryAfterSeconds)
    }
  }
}

extension UploadReason {
  /// What an error on the way means.
  init(_ error: any Error) {
    switch error {
    case let reason as UploadReason: self = reason
    case is CancellationError: self = .stopped
    case let failure as StorageFailure: self = .storage(failure)
    case NetworkFailure.tooLarge: self = .serverBusy(retryAfterSeconds: nil)
    default: self = .noInternet
    }
  }
}
