/// How a callable function of the seed contract says no, by the name on the wire.
///
/// Documentation/SeedContract.md 1: `{"error":{"message":…,"status":…}}`.
public enum CallableStatus: String, Codable, Sendable, CaseIterable {
  /// The request does not make sense; repeating it will not help.
  case invalidArgument = "INVALID_ARGUMENT"
  /// No valid token, or none at all.
  case unauthenticated = "UNAUTHENTICATED"
  /// The caller may not do this.
  case permissionDenied = "PERMISSION_DENIED"
  /// What was named does not exist, is used or is expired.
  case notFound = "NOT_FOUND"
  /// Too many attempts: wait.
  case resourceExhausted = "RESOURCE_EXHAUSTED"
  /// Our own fault; the request may be repeated.
  case `internal` = "INTERNAL"
  /// The server cannot keep anything just now: try again later.
  case unavailable = "UNAVAILABLE"

  /// The HTTP status it travels with.
  public var httpStatus: Int {
    switch self {
    case .invalidArgument: 400
    case .unauthenticated: 401
    case .permissionDenied: 403
    case .notFound: 404
    case .resourceExhausted: 429
    case .internal: 500
    case .unavailable: 503
    }
  }
}
