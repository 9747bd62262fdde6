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
  /// The time that the server, or a cache, states in `Date`.
  public var date: Date?
  /// The time since the server sent the response that a cache states in `Age`, in seconds.
  public var ageSeconds: TimeInterval
  /// The phone's clock compared with `date`; `nil` before the response has been received by `RetryingNetwork`.
  var secondsAhead: TimeInterval?

  /// Creates a response.
  public init(
    status: Int, body: Data = Data(), retryAfterSeconds: Int? = nil,
    version: ResponseVersion? = nil,
    date: Date? = nil, ageSeconds: TimeInterval = 0
  ) {
    self.status = status
    self.body = body
    self.retryAfterSeconds = retryAfterSeconds
    self.version = version
    self.date = date
    self.ageSeconds = ageSeconds
  }
}

extension NetworkResponse: Redacted {
  /// The status; the body may contain a token.
  public var description: String { "HTTP status \(status)" }
}

extension NetworkResponse {
  /// True if the body is a page: no document of our servers begins with a tag, so a network answered in place of the
  /// server, or a proxy before it.
  var isPage: Bool {
    body.first { !Self.whitespace.contains($0) } == UInt8(ascii: "<")
  }

  private static let whitespace: Set<UInt8> = [0x09, 0x0a, 0x0d, 0x20]
}
