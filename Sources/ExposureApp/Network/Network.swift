// SPDX-License-Identifier: Apache-2.0
import Foundation
import Secrets
import World

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

extension NetworkResponse: Redacted {
  /// The status; the body may contain a token.
  public var description: String { "HTTP status \(status)" }
}

/// The kind of a network connection.
public enum NetworkConnection: Sendable {
  /// A fast connection without data charges.
  case wifi
  /// A mobile network.
  case mobile
}

/// The reason why there is no response.
public enum NetworkFailure: String, Error, Equatable, Codable, Sendable, CustomStringConvertible {
  /// The server is unreachable.
  case unreachable
  /// The response did not arrive in time. The server may have processed the request.
  case timedOut
  /// The connection broke during the response. The server may have processed the request.
  case interrupted
  /// The response is longer than the request allows.
  case tooLarge
  /// The disk is full.
  case diskFull
  /// The app may not write to the folder.
  case notPermitted
  /// Another error while writing the response to disk.
  case disk

  public var description: String {
    switch self {
    case .unreachable: "The server cannot be reached; check the connection and try again."
    case .timedOut: "The server did not respond in time; try again."
    case .interrupted: "The connection was lost; try again."
    case .tooLarge: "The response is longer than allowed; contact the health authority."
    case .diskFull: "The disk is full; free some space and try again."
    case .notPermitted: "The app may not write to its folder; correct the folder's permissions."
    case .disk: "Writing the response to the disk failed; try again."
    }
  }
}

extension NetworkFailure {
  /// The failure for a value of `errno` while a file was written.
  init(code: Int32) {
    if FileError.isDiskFull(code) {
      self = .diskFull
    } else {
      self = [EACCES, EPERM, EROFS].contains(code) ? .notPermitted : .disk
    }
  }

  /// True if the response could not be written.
  var isOfDisk: Bool { [.diskFull, .notPermitted, .disk].contains(self) }
}

/// Limits of the app's network requests.
public enum NetworkLimit {
  /// The default request timeout, in seconds.
  public static let timeoutSeconds = 20.0
  /// The default maximum length of a response body, in bytes.
  public static let responseBytesMax = 64 << 10
  /// The connection timeout, in seconds.
  public static let connectSeconds = 10
  /// The time after which an idle connection is closed, in seconds: less than that of servers, which could otherwise
  /// close a connection while a request is sent on it.
  public static let idleSeconds: Int64 = 5
  /// The timeout for requests to servers on the same machine, in seconds: large, so that a slow machine does not
  /// cause network errors.
  public static let ownMachineTimeoutSeconds = 1_800.0
  /// The longest accepted `Retry-After`, in seconds.
  public static let retryAfterSecondsMax = 24 * 3_600
  /// The first pause after a refusal without `Retry-After`, in seconds; it doubles with each refusal.
  public static let pauseSecondsMin = 300.0
  /// The longest such pause, in seconds.
  public static let pauseSecondsMax = 4 * 3_600.0
  /// The number of refusals after which pauses do not grow any more.
  public static let refusalsMax = 8
  /// The pause before the first retry of a download, in seconds; it doubles with each retry.
  public static let retrySeconds = 1.0
  /// The longest pause between two retries, in seconds.
  public static let retrySecondsMax = 30.0
  /// The number of failed downloads in a row after which a check sends no more requests.
  public static let failuresInARowMax = 8
  /// The maximum length of `ETag` and `Last-Modified`, in bytes.
  public static let versionBytesMax = 256
}
