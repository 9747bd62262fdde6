// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The network connection of the phone. `HTTPNetwork` implements it; tests and simulations use others.
public protocol Network: Sendable {
  /// The kind of connection; it selects the download timeout.
  var connection: NetworkConnection { get async }

  /// Sends a request and returns the whole response, with any status. Redirects are not followed.
  ///
  /// - Throws: `NetworkFailure`, or `CancellationError` if the task is cancelled.
  func send(_ request: NetworkRequest) async throws -> NetworkResponse

  /// Sends a request and writes the body of a 200 response to `file`, which the caller syncs.
  ///
  /// The bodies of other responses are discarded. The returned
  /// response has no body. After an error, the content of `file` is undefined.
  ///
  /// - Throws: `NetworkFailure`, or `CancellationError` if the task is cancelled.
  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse
}

/// The version of a response body. A request with its headers gets status 304 if the body has not changed.
public struct ResponseVersion: Codable, Hashable, Sendable {
  /// The value of `ETag`.
  public let entityTag: String?
  /// The value of `Last-Modified`.
  public let lastModified: String?

  /// Creates a version; `nil` without a usable value.
  public init?(entityTag: String?, lastModified: String?) {
    self.entityTag = entityTag.flatMap(Self.usable)
    self.lastModified = lastModified.flatMap(Self.usable)
    guard self.entityTag != nil || self.lastModified != nil else { return nil }
  }

  /// The headers of a conditional request. The entity tag is the more exact of both.
  public var headers: [String: String] {
    if let entityTag { return ["If-None-Match": entityTag] }
    return lastModified.map { ["If-Modified-Since": $0] } ?? [:]
  }

  private static func usable(_ value: String) -> String? {
    let isUsable =
      (1...NetworkLimit.versionBytesMax).contains(value.utf8.count)
      && value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    return isUsable ? value : nil
  }
}

/// The kind of a network connection.
public enum NetworkConnection: Sendable {
  /// A fast connection without data charges.
  case wifi
  /// A mobile network.
  case mobile
}
