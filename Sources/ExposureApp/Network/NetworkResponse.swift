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
  /// The server's time when it sent the response, if it states one.
  public var date: Date?

  /// Creates a response.
  public init(
    status: Int, body: Data = Data(), retryAfterSeconds: Int? = nil,
    version: ResponseVersion? = nil,
    date: Date? = nil
  ) {
    self.status = status
    self.body = body
    self.retryAfterSeconds = retryAfterSeconds
    self.version = version
    self.date = date
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
