// SPDX-License-Identifier: Apache-2.0
/// The paths, headers and fixed texts of the verification server.
public enum VerificationRoute {
  /// POST: exchanges a PIN for an upload token (ProteGO Safe contract).
  public static let accessToken = "/getAccessToken"
  /// POST: a new PIN, for the health authority's systems.
  public static let generateCode = "/generateCode"
  /// POST: many new PINs, for the health authority's systems.
  public static let generateCodesBatch = "/generateCodesBatch"
  /// The header with the API token of the health authority's systems.
  public static let apiTokenHeader = "api-token"
  /// The message of every response to an invalid code, whatever the reason.
  public static let invalidCode = "Invalid code"

  /// POST: exchanges a code for a verification token (Google's contract, device key).
  public static let verify = "/api/verify"
  /// POST: exchanges a verification token for a certificate (device key).
  public static let certificate = "/api/certificate"
  /// POST: sends a code by SMS for a test that the user made (device key).
  public static let userReport = "/api/user-report"
  /// POST: a new code (admin key).
  public static let issue = "/api/issue"
  /// POST: up to ten new codes (admin key).
  public static let batchIssue = "/api/batch-issue"
  /// POST: the status of a code (admin key).
  public static let checkCodeStatus = "/api/checkcodestatus"
  /// POST: expires a code at once (admin key).
  public static let expireCode = "/api/expirecode"
  /// POST: allows a phone a new user report (admin key). An addition to Google's contract.
  public static let freePhone = "/api/free-phone"
  /// GET: the numbers of codes by day (stats or admin key).
  public static let statistics = "/api/stats/realm.json"
  /// GET: the numbers of codes by day and by official of the console (stats or admin key).
  public static let userStatistics = "/api/stats/realm/users.json"
  /// GET: the numbers of codes by day and by the `externalIssuerID` of requests (stats or admin key).
  public static let externalIssuerStatistics = "/api/stats/realm/external-issuers.json"
  /// GET: the numbers of codes by day and by API key (stats or admin key). An addition to Google's contract.
  public static let apiKeysStatistics = "/api/stats/realm/api-keys.json"
  /// GET: the errors of the SMS gateway by day and code (stats or admin key).
  public static let smsErrorStatistics = "/api/stats/realm/sms-errors.json"
  /// GET: the numbers of codes of one API key by day (stats or admin key). The file is the ID of the key with `.json`
  /// or `.csv`.
  public static let apiKeyStatistics = "/api/stats/realm/api-keys/{file}"

  /// The path of the same numbers as CSV.
  ///
  /// - Parameter path: The path of numbers as JSON.
  public static func csv(of path: String) -> String {
    path.hasSuffix(".json") ? "\(path.dropLast(4))csv" : path
  }

  /// The header with the API key in Google's contract.
  public static let apiKeyHeader = "X-API-Key"

  /// GET: the public keys of tokens and certificates.
  public static let keys = "/.well-known/jwks.json"
  /// GET: the same keys as a bare list, the form that Google's key server reads.
  public static let keyList = "/jwks"
}

/// The error codes of Google's contract; the raw value is the name in JSON.
public enum VerificationErrorCode: String, Codable, Sendable, CaseIterable {
  /// The request is malformed: correct it.
  case unparsableRequest = "unparsable_request"
  /// An error of the server: retry.
  case internalServerError = "internal_server_error"
  /// The server is in maintenance: retry later.
  case maintenanceMode = "maintenance_mode"
  /// Too many requests: wait for `Retry-After`.
  case quotaExceeded = "quota_exceeded"
  /// The API key is missing, invalid or of the wrong kind.
  case unauthorized
  /// The code does not exist or was used: ask the user for another.
  case codeInvalid = "code_invalid"
  /// The code has expired: ask the user for another.
  case codeExpired = "code_expired"
  /// No code has this `uuid`.
  case codeNotFound = "code_not_found"
  /// The code was issued under another API key.
  case codeUserUnauthorized = "code_user_unauthorized"
  /// The app or the server does not support this kind of test.
  case unsupportedTestType = "unsupported_test_type"
  /// The kind of test does not exist.
  case invalidTestType = "invalid_test_type"
  /// The token is invalid: verify a code first.
  case tokenInvalid = "token_invalid"
  /// The token has expired or was used: verify a code first.
  case tokenExpired = "token_expired"
  /// The HMAC over the keys is not base64 of 32 bytes.
  case hmacInvalid = "hmac_invalid"
  /// The server requires a date and none was sent.
  case missingDate = "missing_date"
  /// The date is in the future or more than 28 days ago.
  case invalidDate = "invalid_date"
  /// The phone number is not E.164 (`+` and digits) or does not exist.
  case phoneNumberInvalid = "phone_number_invalid"
  /// No phone number was sent.
  case missingPhone = "missing_phone"
  /// No nonce of 256 bytes was sent.
  case missingNonce = "missing_nonce"
  /// The queue of the SMS gateway is full; no code was issued.
  case smsQueueFull = "sms_queue_full"
  /// The SMS could not be sent; no code was issued.
  case smsFailure = "sms_failure"
  /// A code with this `uuid` exists.
  case uuidAlreadyExists = "uuid_already_exists"

  /// The HTTP status of a response with this code.
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
