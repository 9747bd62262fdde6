// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix

extension HTTPClient {
  /// The client for requests to other servers. It lives as long as the process.
  ///
  /// It does not follow redirects: they could lead to plain HTTP or to a host that is not configured. Each request has
  /// a timeout of its own, which covers the connection as well. Idle connections are closed before a server like
  /// `QuietServer` closes them, possibly while a request is sent.
  public static let withoutRedirects: HTTPClient = {
    var configuration = HTTPClient.Configuration.singletonConfiguration
    configuration.redirectConfiguration = .disallow
    configuration.timeout = HTTPClient.Configuration.Timeout(connect: .hours(1), read: nil)
    configuration.connectionPool.idleTimeout = .seconds(Int64(QuietLimit.clientIdleSeconds))
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }()
}

extension URL {
  /// True for `https`, and for `http` to this machine: nothing crosses a network unencrypted.
  public var isEncryptedOrLocal: Bool {
    scheme == "https"
      || scheme == "http" && ["127.0.0.1", "localhost", "[::1]", "::1"].contains(host)
  }

  /// True if the address has a host, no user, and no port or one of 1 to 65535: a request can be sent there.
  public var isOfServer: Bool {
    guard let parts = URLComponents(url: self, resolvingAgainstBaseURL: false),
      parts.host?.isEmpty == false, parts.user == nil, parts.password == nil
    else { return false }
    // Foundation has no port for a number that it cannot represent.
    let text = absoluteString
    guard let start = text.firstRange(of: "//")?.upperBound else { return false }
    let authority = text[start...].prefix { !"/?#".contains($0) }
    guard let colon = authority.lastIndex(of: ":"), authority.last != "]" else { return true }
    let digits = authority[authority.index(after: colon)...]
    guard digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return false }
    return UInt16(digits).map { $0 > 0 } ?? false
  }
}

extension HTTPClientError: LoggableError {
  public var logText: String { shortDescription }
}

extension NIOConnectionError: LoggableError {
  public var logText: String {
    let cause = dnsAError ?? dnsAAAAError ?? connectionErrors.first?.error
    return cause.map { ErrorCause.text($0) } ?? "no connection"
  }
}
