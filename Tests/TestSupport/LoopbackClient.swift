// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Testing

/// HTTP requests of tests to servers on the loopback interface. Redirects are responses like others.
public enum LoopbackClient {
  /// A complete response.
  public struct Response: Sendable {
    /// The HTTP status.
    public let status: Int
    /// The first value of each header, by its name in lower case.
    public let headers: [String: String]
    /// All headers, each as `name: value` on a line of its own.
    public let headerText: String
    public let body: Data

    /// The body as UTF-8.
    public var text: String { String(decoding: body, as: UTF8.self) }
  }

  private static let bodyBytesMax = 64 << 20
  /// The largest request body that surely fits into the buffers of a connection.
  private static let bufferedBytesMax = 32 << 10
  private static let client = HTTPClient(configuration: .loopback)
  private static let singleUseClient = HTTPClient(configuration: .singleUse)

  /// Sends a request and waits for the complete response.
  ///
  /// - Parameter headers: A name may occur several times.
  public static func send(
    _ method: String, _ url: String, headers: [(String, String)] = [], body: Data? = nil
  ) async throws -> Response {
    if method == "POST", let body, body.count > bufferedBytesMax {
      return try await post(large: body, to: url, headers: headers)
    }
    return try await execute(method, url, headers: headers, body: body, by: client)
  }

  /// Sends a request over a connection of its own, and closes it: for servers that a test stops or kills. They must
  /// have no connections of earlier requests, and their refusals are results.
  ///
  /// - Parameter headers: A name may occur several times.
  /// - Returns: The response. Its status is 0 if the server refused the connection or closed it too early.
  public static func sendOnce(
    _ method: String, _ url: String, headers: [(String, String)] = [], body: Data? = nil
  ) async throws -> Response {
    do {
      return try await execute(method, url, headers: headers, body: body, by: singleUseClient)
    } catch is IOError {
      return .unanswered
    } catch is ChannelError {
      return .unanswered
    } catch let error as HTTPClientError where error == .remoteConnectionClosed {
      return .unanswered
    }
  }

  private static func execute(
    _ method: String, _ url: String, headers: [(String, String)], body: Data?, by client: HTTPClient
  ) async throws -> Response {
    var request = HTTPClientRequest(url: url)
    request.method = HTTPMethod(rawValue: method)
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    request.body = body.map { .bytes(ByteBuffer(bytes: $0)) }
    let response = try await client.execute(request, timeout: .seconds(Int64(Patience.seconds)))
    let bytes = try await response.body.collect(upTo: bodyBytesMax)
    let fields = response.headers.map { ($0.name, $0.value) }
    return Response(
      status: Int(response.status.code), fields: fields, body: Data(bytes.readableBytesView))
  }

  /// A server responds to a body that is too large before it is complete, and closes the connection. AsyncHTTPClient
  /// then throws the error of the write instead of returning the response.
  private static func post(
    large body: Data, to url: String, headers: [(String, String)]
  ) async throws -> Response {
    let parts = try #require(URLComponents(string: url))
    let port = try #require(parts.port)
    let fields = [("host", "127.0.0.1:\(port)")] + headers.map { ($0.0.lowercased(), $0.1) }
    let answer = try await RawPost(
      port: port, path: parts.percentEncodedPath, headers: Dictionary(fields) { $1 }
    ).answer(sending: body)
    return Response(
      status: answer.status, fields: answer.headers.map { ($0.key, $0.value) }, body: answer.body)
  }
}

extension LoopbackClient.Response {
  /// The result of a request without a response.
  fileprivate static let unanswered = Self(status: 0, fields: [], body: Data())

  fileprivate init(status: Int, fields: [(String, String)], body: Data) {
    self.status = status
    headers = Dictionary(fields.map { ($0.0.lowercased(), $0.1) }) { first, _ in first }
    headerText = fields.map { "\($0.0): \($0.1)\n" }.joined()
    self.body = body
  }
}

extension HTTPClient.Configuration {
  /// The configuration for servers on the loopback interface.
  ///
  /// On a busy machine a request may wait for its connection for minutes. The default is ten seconds, and URLSession
  /// has no setting for it.
  public static var loopback: HTTPClient.Configuration {
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
    configuration.timeout.connect = .seconds(Int64(Patience.seconds))
    // Less than that of the servers, which could otherwise close a connection while a request is sent on it.
    configuration.connectionPool.idleTimeout = .seconds(5)
    // More than the default, for tests with many requests at once. With more a server would refuse some as too busy.
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 24
    return configuration
  }

  /// The same for one request on each connection, with a failure if it is refused.
  fileprivate static var singleUse: HTTPClient.Configuration {
    var configuration = loopback
    configuration.maximumUsesPerConnection = 1
    configuration.connectionPool.retryConnectionEstablishment = false
    return configuration
  }
}
