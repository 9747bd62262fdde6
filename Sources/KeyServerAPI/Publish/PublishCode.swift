/// What `/v1/publish` and `/v1/stats` say went wrong, by the name on the wire.
///
/// Documentation/KeyServer.md 7.6.
public enum PublishCode: String, Codable, Sendable, CaseIterable {
  /// The app is not known here.
  case unknownHealthAuthorityID = "unknown_health_authority_id"
  /// The app cannot be looked up just now: try again.
  case unableToLoadHealthAuthority = "unable_to_load_health_authority"
  /// The app has no region, nor has the server one for it.
  case missingRegionConfiguration = "health_authority_missing_region_config"
  /// The certificate is not good, or not for these keys.
  case certificateInvalid = "health_authority_verification_certificate_invalid"
  /// The request breaks a rule.
  case badRequest = "bad_request"
  /// A key is in already, and no revision token came with it.
  case missingRevisionToken = "missing_revision_token"
  /// A key is in already, and the revision token does not speak of it.
  case invalidRevisionToken = "invalid_revision_token"
  /// A key has been revised before, which it can be once.
  case keyAlreadyRevised = "key_already_revised"
  /// What the key was found to be cannot become what the certificate says.
  case invalidReportTypeTransition = "invalid_report_type_transition"
  /// Nothing could be kept: try again.
  case internalError = "internal_error"
  /// Some keys are in and others were dropped.
  case partialFailure = "partial_failure"
  /// The bearer may not see statistics.
  case unauthorized
  /// Too many attempts from one address: wait.
  case tooManyRequests = "too_many_requests"
}
