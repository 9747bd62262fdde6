// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets

/// An HTTP request.
public struct NetworkRequest: Sendable {
  /// The URL with scheme and host.
  public var url: URL
  /// The JSON of a POST request, or `nil` for GET.
  public var body: Data?
  /// Additional headers.
  public var headers: [String: String]
  /// The time until the whole response must have arrived, in seconds.
  public var timeoutSeconds: Double
  /// The maximum length of the response body, in bytes.
  public var responseBytesMax: Int

  /// Creates a GET request, or a POST request if there is a body.
  public init(
    _ url: URL, body: Data? = nil, headers: [String: String] = [:],
    timeoutSeconds: Double = NetworkLimit.timeoutSeconds,
    responseBytesMax: Int = NetworkLimit.responseBytesMax
  ) {
    self.url = url
    self.body = body
    self.headers = headers
    self.timeoutSeconds = timeoutSeconds
    self.responseBytesMax = responseBytesMax
  }
}

extension NetworkRequest: Redacted {
  /// The method and the path; the body may contain a PIN, a token or keys.
  public var description: String { "\(body == nil ? "GET" : "POST") \(url.path)" }
}
