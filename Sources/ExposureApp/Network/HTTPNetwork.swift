// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Secrets
import TextEncodings
import World

/// HTTP over AsyncHTTPClient, without redirects, cookies or a cache. Every exchange is limited in time and
/// size: one deadline covers the connection, the request, the headers and the whole body.
public final class HTTPNetwork: Network {
  public let connection: NetworkConnection
  private let client: HTTPClient
  private let clock: any WallClock
  private let ownMachineTimeoutSeconds: Double?
  private let connectSeconds: Int64

  /// Creates a client, which connects on the first request; call `shutdown()` when done.
  ///
  /// - Parameters:
  ///   - connection: The kind of network that the machine has.
  ///   - clock: The clock for a `Retry-After` with a date, from a server without a clock, and for the reason why a
  ///     certificate was rejected.
  ///   - ownMachineTimeoutSeconds: The timeout of every request to this machine, whose speed is unknown; nil for the
  ///     timeout of the request, like for requests to others.
  ///   - authorities: A PEM file with the certificates of the authorities to trust; nil for those of the system.
  public init(
    connection: NetworkConnection = .wifi, clock: any WallClock = SystemClock(),
    ownMachineTimeoutSeconds: Double? = nil, authorities: URL? = nil
  ) {
    self.connection = connection
    self.clock = clock
    self.ownMachineTimeoutSeconds = ownMachineTimeoutSeconds
    connectSeconds = Int64(ownMachineTimeoutSeconds ?? Double(NetworkLimit.connectSeconds))
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: ServerTrust.configuration(authorities: authorities),
      redirectConfiguration: .disallow, timeout: .init(connect: .seconds(connectSeconds)))
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.http1_1ConnectionDebugInitializer = ServerTrust.checkCertificate
    configuration.http2ConnectionDebugInitializer = ServerTrust.checkCertificate
    configuration.connectionPool.idleTimeout = .seconds(NetworkLimit.idleSeconds)
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// Closes all connections. The network cannot be used afterwards.
  public func shutdown() async {
    // The only error is that the client is closed already.
    try? await client.shutdown()
  }

  public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try await exchange(request) { response in
      // The body may contain a token, so SwiftNIO's buffers are overwritten after each part is copied. The memory of
      // the result is overwritten when its last reference is released.
      var body = SecretText()
      for try await part in response.body {
        defer { part.overwrite() }
        guard body.count + part.readableBytes <= request.responseBytesMax else {
          throw NetworkFailure.tooLarge
        }
        body.append(ZeroingBytes(copying: part.readableBytesView))
      }
      return NetworkResponse(response, body: body.bytes().data, at: self.clock.now)
    }
  }

  public func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
    try await exchange(request) { response in
      let now = self.clock.now
      guard response.status == .ok else { return NetworkResponse(response, at: now) }
      let output = try DownloadFile(at: file)
      var count = 0
      for try await part in response.body {
        count += part.readableBytes
        guard count <= request.responseBytesMax else { throw NetworkFailure.tooLarge }
        try part.withUnsafeReadableBytes { bytes throws(NetworkFailure) in try output.write(bytes) }
      }
      return NetworkResponse(response, at: now)
    }
  }

  /// Sends a request and lets `read` read the response, until the deadline.
  private func exchange(
    _ request: NetworkRequest,
    _ read: @escaping @Sendable (HTTPClientResponse) async throws -> NetworkResponse
  ) async throws -> NetworkResponse {
    do {
      return try await withThrowingTaskGroup(of: NetworkResponse.self) { group in
        group.addTask {
          let response = try await read(try await self.execute(request))
          // A cancelled body may end without an error.
          try Task.checkCancellation()
          return response
        }
        group.addTask {
          try await Task.sleep(for: .seconds(self.timeout(of: request)))
          throw NetworkFailure.timedOut
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw NetworkFailure.interrupted }
        return first
      }
    } catch {
      let failure = error as? NetworkFailure
      if failure == nil { try Task.checkCancellation() }
      throw await explained(failure ?? NetworkFailure(error), of: request)
    }
  }

  /// The failure, with the reason for which a certificate was rejected: a wrong clock rejects every certificate.
  private func explained(
    _ failure: NetworkFailure, of request: NetworkRequest
  ) async -> NetworkFailure {
    guard failure == .certificate else { return failure }
    return await ServerTrust.rejection(
      of: request.url, at: clock.now, withinSeconds: connectSeconds)
  }

  private static let ownHosts: Set = ["127.0.0.1", "localhost", "::1", "[::1]"]

  /// The time for the whole exchange, in seconds.
  func timeout(of request: NetworkRequest) -> Double {
    guard let host = request.url.host, Self.ownHosts.contains(host) else {
      return request.timeoutSeconds
    }
    return ownMachineTimeoutSeconds ?? request.timeoutSeconds
  }

  private func execute(_ request: NetworkRequest) async throws -> HTTPClientResponse {
    var httpRequest = HTTPClientRequest(url: request.url.absoluteString)
    for (name, value) in request.headers { httpRequest.headers.add(name: name, value: value) }
    let body = request.body.map { ByteBuffer(bytes: $0) }
    defer { body?.overwrite() }
    if let body {
      httpRequest.method = .POST
      httpRequest.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
      httpRequest.body = .bytes(body)
    }
    let milliseconds = Int64(timeout(of: request) * 1_000)
    return try await client.execute(
      httpRequest, deadline: .now() + .milliseconds(milliseconds))
  }
}

extension ByteBuffer {
  /// Overwrites the readable bytes, also if other buffers share them: the exchange is over.
  fileprivate func overwrite() {
    withUnsafeReadableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      explicit_bzero(UnsafeMutableRawPointer(mutating: start), bytes.count)
    }
  }
}

extension NetworkResponse {
  /// Copies status and headers.
  fileprivate init(_ response: HTTPClientResponse, body: Data = Data(), at now: Date) {
    let headers = response.headers
    let sent = headers.first(name: "Date").flatMap(HTTPDate.lenientDate)
    let age = headers.first(name: "Age").flatMap(Double.init(digits:)) ?? 0
    self.init(
      status: Int(response.status.code), body: body,
      retryAfterSeconds: headers.first(name: "Retry-After")
        .flatMap { RetryAfter.seconds($0, sentAt: sent ?? now) },
      version: ResponseVersion(
        entityTag: headers.first(name: "ETag"), lastModified: headers.first(name: "Last-Modified")),
      date: sent, ageSeconds: age)
  }
}

/// The value of the header `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.
enum RetryAfter {
  /// The seconds to wait, at most the limit; `nil` for another value.
  ///
  /// - Parameter sent: The time of the response: that of its header `Date` if possible, because the phone's
  ///   clock may be wrong.
  static func seconds(_ value: String, sentAt sent: Date) -> Int? {
    let text = value.trimmingCharacters(in: .whitespaces)
    let date = { HTTPDate.lenientDate(text)?.timeIntervalSince(sent) }
    guard let seconds = Double(digits: text) ?? date() else { return nil }
    return Int(min(max(seconds, 0), Double(NetworkLimit.retryAfterSecondsMax)))
  }
}

extension Double {
  /// The value of a text of digits alone.
  fileprivate init?(digits text: String) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    self.init(text)
  }
}

extension NetworkFailure {
  /// Maps an error of AsyncHTTPClient or SwiftNIO.
  fileprivate init(_ error: any Error) {
    if let failure = NetworkFailure(ofHandshake: error) {
      self = failure
      return
    }
    let timeouts: [HTTPClientError] = [.deadlineExceeded, .readTimeout, .writeTimeout]
    switch error {
    case let error as HTTPClientError where timeouts.contains(error): self = .timedOut
    case let error as HTTPClientError where error == .remoteConnectionClosed: self = .interrupted
    case is HTTPParserError: self = .interrupted
    default: self = .unreachable
    }
  }
}

/// The file of a download in progress, readable by its owner only.
final class DownloadFile {
  private let url: URL
  private let file: Int32

  /// Creates or truncates the file.
  init(at url: URL) throws(NetworkFailure) {
    self.url = url
    file = open(url.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw NetworkFailure(code: errno) }
  }

  deinit {
    close(file)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkFailure) {
    do throws(FileError) {
      try AtomicFile.append(bytes, to: file, at: url)
    } catch {
      throw NetworkFailure(code: error.code)
    }
  }
}
