// SPDX-License-Identifier: Apache-2.0
/// `{"data": …, "padding": …}`: the request of a callable function.
///
/// The padding is ignored. It makes a real upload as long as a decoy.
public struct CallableRequest<Payload: Codable & Sendable>: Codable, Sendable {
  /// The parameters.
  public var data: Payload
  /// Base64 of random bytes, ignored.
  public var padding: String?

  /// Creates a request.
  public init(data: Payload, padding: String? = nil) {
    self.data = data
    self.padding = padding
  }
}

/// `{"result": …}`: the response of a callable function. The server adds `padding`.
public struct CallableResponse<Result: Codable & Sendable>: Codable, Sendable {
  /// The result.
  public var result: Result

  /// Creates a response.
  public init(result: Result) {
    self.result = result
  }
}

/// `{"error":{"message":…,"status":…}}`: the error response of a callable function.
public struct CallableFailure: Codable, Sendable, Hashable, Error {
  /// The content of `error`.
  public struct Reason: Codable, Sendable, Hashable {
    /// One sentence for developers, without secrets.
    public var message: String
    /// The error code for programs.
    public var status: CallableStatus
  }

  /// The reason.
  public var error: Reason

  /// Creates an error response.
  public init(_ status: CallableStatus, message: String = "") {
    error = Reason(message: message, status: status)
  }
}

/// The error codes of callable functions.
public enum CallableStatus: String, Codable, Sendable, CaseIterable {
  /// The request is invalid. A retry does not help.
  case invalidArgument = "INVALID_ARGUMENT"
  /// The token is missing or invalid.
  case unauthenticated = "UNAUTHENTICATED"
  /// The caller is not allowed to do this.
  case permissionDenied = "PERMISSION_DENIED"
  /// The code does not exist, is used or expired.
  case notFound = "NOT_FOUND"
  /// Too many attempts: retry later.
  case resourceExhausted = "RESOURCE_EXHAUSTED"
  /// An internal error. The request may be repeated.
  case `internal` = "INTERNAL"
  /// The server cannot store anything: retry later.
  case unavailable = "UNAVAILABLE"

  /// The HTTP status of the response.
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
