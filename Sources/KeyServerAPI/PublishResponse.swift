import Secrets
/// The response of `/v1/publish`. The server adds `padding`.
public struct PublishResponse: Codable, Hashable, Sendable {
  /// The token to send with the next upload of the same phone.
  public var revisionToken: String?
  /// The number of new keys. Revised ones do not count.
  public var insertedExposures: Int?
  /// The error in one sentence.
  public var error: String?
  /// The error for programs.
  public var code: PublishCode?
  /// Hints for the developers of the app.
  public var warnings: [String]?

  /// Creates a response.
  public init(
    revisionToken: String? = nil, insertedExposures: Int? = nil, error: String? = nil,
    code: PublishCode? = nil, warnings: [String]? = nil
  ) {
    self.revisionToken = revisionToken
    self.insertedExposures = insertedExposures
    self.error = error
    self.code = code
    self.warnings = warnings
  }
}

extension PublishResponse: Redacted {
  public var description: String { "PublishResponse(\(code?.rawValue ?? "ok"))" }
}

/// The error codes of `/v1/publish` and `/v1/stats`.
public enum PublishCode: String, Codable, Sendable, CaseIterable {
  /// The app is not registered.
  case unknownHealthAuthorityID = "unknown_health_authority_id"
  /// The registration of the app cannot be read: retry later.
  case unableToLoadHealthAuthority = "unable_to_load_health_authority"
  /// The app has no region.
  case missingRegionConfiguration = "health_authority_missing_region_config"
  /// The certificate is invalid, or not for these keys.
  case certificateInvalid = "health_authority_verification_certificate_invalid"
  /// The request is invalid.
  case badRequest = "bad_request"
  /// A key exists, and the request has no revision token.
  case missingRevisionToken = "missing_revision_token"
  /// A key exists, and the revision token does not contain it.
  case invalidRevisionToken = "invalid_revision_token"
  /// A key was revised before, which is allowed once.
  case keyAlreadyRevised = "key_already_revised"
  /// The report type of a key cannot change to that of the certificate.
  case invalidReportTypeTransition = "invalid_report_type_transition"
  /// Nothing was stored: retry later.
  case internalError = "internal_error"
  /// Some keys were stored and others dropped.
  case partialFailure = "partial_failure"
  /// The bearer token does not allow statistics.
  case unauthorized
  /// Too many attempts from one address: retry later.
  case tooManyRequests = "too_many_requests"
}

/// Limits of `/v1/publish` that differ from `UploadLimit`.
public enum PublishLimit {
  /// The maximum size of the body, in bytes.
  public static let bodyBytesMax = 64_000
  /// The minimum size of a response, in bytes: it has room for a revision token.
  public static let responseBytesMin = 4_096
}
