/// `{"error", "errorCode", "error_code"}`: how Google's contract refuses. `error_code` is an older name
/// of `errorCode` that some apps still read.
public struct VerificationFailure: Codable, Sendable, Hashable, Error {
  /// One sentence for whoever wrote the client, with nothing secret in it.
  public var error: String
  /// What the client's program can act on.
  public var errorCode: VerificationErrorCode
  /// The same.
  public var legacyErrorCode: VerificationErrorCode

  /// Refuses with `code`.
  public init(_ code: VerificationErrorCode, _ sentence: String) {
    error = sentence
    errorCode = code
    legacyErrorCode = code
  }

  private enum CodingKeys: String, CodingKey {
    case error, errorCode
    case legacyErrorCode = "error_code"
  }
}

/// How Google's contract says no, by the name on the wire.
///
/// Documentation/VerificationServer.md 2 and 3.
public enum VerificationErrorCode: String, Codable, Sendable, CaseIterable {
  /// The request cannot be read: correct it.
  case unparsableRequest = "unparsable_request"
  /// Our own fault: try again.
  case internalServerError = "internal_server_error"
  /// The server is being worked on: try later.
  case maintenanceMode = "maintenance_mode"
  /// Too many: wait as long as `Retry-After` says.
  case quotaExceeded = "quota_exceeded"
  /// No such API key, or not of the kind this route wants.
  case unauthorized
  /// There is no such code, or it was used: ask the person for another.
  case codeInvalid = "code_invalid"
  /// The code is too old: ask the person for another.
  case codeExpired = "code_expired"
  /// No code has this `uuid`.
  case codeNotFound = "code_not_found"
  /// The code was issued under another API key.
  case codeUserUnauthorized = "code_user_unauthorized"
  /// The app, or this server, does not take this kind of test.
  case unsupportedTestType = "unsupported_test_type"
  /// There is no such kind of test.
  case invalidTestType = "invalid_test_type"
  /// There is no such token: verify a code first.
  case tokenInvalid = "token_invalid"
  /// The token is too old or was used: verify a code first.
  case tokenExpired = "token_expired"
  /// The HMAC over the keys is not base64 of 32 bytes.
  case hmacInvalid = "hmac_invalid"
  /// A date is wanted and none was sent.
  case missingDate = "missing_date"
  /// The date is to come, or more than 28 days ago.
  case invalidDate = "invalid_date"
  /// The phone number is not written as `+` and digits (E.164), or nobody has it.
  case phoneNumberInvalid = "phone_number_invalid"
  /// No phone number was sent.
  case missingPhone = "missing_phone"
  /// No nonce of 256 bytes was sent.
  case missingNonce = "missing_nonce"
  /// The SMS gateway takes no more just now; no code was issued.
  case smsQueueFull = "sms_queue_full"
  /// The SMS could not be sent; no code was issued.
  case smsFailure = "sms_failure"
  /// There is a code with this `uuid` already.
  case uuidAlreadyExists = "uuid_already_exists"

  /// The HTTP status it travels with.
  public var httpStatus: Int {
    switch self {
    case .internalServerError: 500
    case .maintenanceMode, .quotaExceeded: 429
    case .unauthorized, .codeUserUnauthorized: 401
    case .codeNotFound: 404
    case .uuidAlreadyExists: 409
    default: 400
    }
  }
}
