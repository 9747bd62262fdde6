import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// HTTP over AsyncHTTPClient, without redirects, cookies or a cache. Every response is limited in
/// time and size.
public final class HTTPNetwork: Network {
  public let connection: NetworkConnection
  private let client: HTTPClient

  /// Creates a client, which connects on the first request; call `shutdown()` when done.
  public init(connection: NetworkConnection = .wifi) {
    self.connection = connection
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      timeout: .init(connect: .seconds(Int64(NetworkLimit.connectSeconds))))
    configuration.connectionPool.retryConnectionEstablishment = false
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// Closes all connections.
  public func shutdown() async throws {
    try await client.shutdown()
  }

  public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try await mappingErrors {
      let response = try await execute(request)
      var body = Data()
      for try await part in response.body {
        guard body.count + part.readableBytes <= request.responseBytesMax else {
          throw NetworkFailure.tooLarge
        }
        body.append(contentsOf: part.readableBytesView)
      }
      return networkResponse(response, body: body)
    }
  }

  public func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
    try await mappingErrors {
      let response = try await execute(request)
      guard response.status == .ok else { return networkResponse(response) }
      let output = try DownloadFile(at: file)
      var count = 0
      for try await part in response.body {
        count += part.readableBytes
        guard count <= request.responseBytesMax else { throw NetworkFailure.tooLarge }
        try part.withUnsafeReadableBytes { bytes throws(NetworkFailure) in try output.write(bytes) }
      }
      try output.finish()
      return networkResponse(response)
    }
  }

  private func execute(_ request: NetworkRequest) async throws -> HTTPClientResponse {
    var httpRequest = HTTPClientRequest(url: request.url.absoluteString)
    for (name, value) in request.headers { httpRequest.headers.add(name: name, value: value) }
    if let body = request.body {
      httpRequest.method = .POST
      httpRequest.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
      httpRequest.body = .bytes(body, length: .known(Int64(body.count)))
    }
    let milliseconds = Int64(request.timeoutSeconds * 1_000)
    return try await client.execute(
      httpRequest, deadline: .now() + .milliseconds(milliseconds))
  }

  private func networkResponse(_ response: HTTPClientResponse, body: Data = Data())
    -> NetworkResponse
  {
    let seconds = response.headers.first(name: "Retry-After").flatMap { Int($0) }
    return NetworkResponse(
      status: Int(response.status.code), body: body,
      retryAfterSeconds: seconds.map { min(max($0, 0), NetworkLimit.retryAfterSecondsMax) })
  }

  /// Converts the errors of `work` to `NetworkFailure`.
  private func mappingErrors(
    _ work: () async throws -> NetworkResponse
  ) async throws -> NetworkResponse {
    do {
      return try await work()
    } catch let failure as NetworkFailure {
      throw failure
    } catch {
      try Task.checkCancellation()
      throw NetworkFailure(error)
    }
  }
}

extension NetworkFailure {
  /// Maps an error of AsyncHTTPClient or SwiftNIO.
  fileprivate init(_ error: any Error) {
    let timeouts: [HTTPClientError] = [.deadlineExceeded, .readTimeout, .writeTimeout]
    switch error {
    case let error as HTTPClientError where timeouts.contains(error): self = .timedOut
    case let error as HTTPClientError where error == .remoteConnectionClosed: self = .interrupted
    case is HTTPParserError: self = .interrupted
    default: self = .unreachable
    }
  }
}

/// The file of a download in progress, readable by its owner only; `finish()` syncs it.
final class DownloadFile {
  private let file: Int32

  /// Creates or truncates the file.
  init(at url: URL) throws(NetworkFailure) {
    file = open(url.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Self.failure() }
  }

  deinit {
    close(file)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Foundation.write(
        file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      guard count > 0 else { throw Self.failure() }
      rest = rest.dropFirst(count)
    }
  }

  func finish() throws(NetworkFailure) {
    guard fsync(file) == 0 else { throw Self.failure() }
  }

  private static func failure() -> NetworkFailure {
    [ENOSPC, EDQUOT, EFBIG].contains(errno) ? .diskFull : .disk
  }
}
