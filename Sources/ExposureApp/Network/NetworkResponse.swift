// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets

/// An HTTP response.
public struct NetworkResponse: Sendable {
  /// The HTTP status.
  public var status: Int
  /// The body; empty after a download.
  public var body: Data
  /// The value of `Retry-After`, in seconds, if present.
  public var retryAfterSeconds: Int?
  /// The version of the body, for a conditional request.
  public var version: ResponseVersion?

  /// Creates a response.
  public init(
    status: Int, body: Data = Data(), retryAfterSeconds: Int? = nil, version: ResponseVersion? = nil
  ) {
    self.status = status
    self.body = body
    self.retryAfterSeconds = retryAfterSeconds
    self.version = version
  }
}

extension NetworkResponse: Redacted {
  /// The status; the body may contain a token.
  public var description: String { "HTTP status \(status)" }
}
