import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// The network as it is: HTTP over AsyncHTTPClient, without redirects, cookies or a cache, with a
/// limit for everything that comes back.
public final class HTTPNetwork: Network {
  public let connection: NetworkConnection
  private let client: HTTPClient

  /// Connects when first asked. Call `shutdown()` before letting go of it.
  public init(connection: NetworkConnection = .wifi) {
    self.connection = connection
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      timeout: .init(connect: .seconds(Int64(NetworkLimit.connectSeconds))))
    configuration.connectionPool.retryConnectionEstablishment = false
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// Closes every connection.
  public func shutdown() async throws {
    try await client.shutdown()
  }

  public func send(_ request: NetworkRequest) async throws -> NetworkAnswer {
    try await failing {
      let response = try await execute(request)
      var body = Data()
      for try await part in response.body {
        guard body.count + part.readableBytes <= request.answerBytesMax else {
          throw NetworkFailure.tooLarge
        }
        body.append(contentsOf: part.readableBytesView)
      }
      return answer(response, body: body)
    }
  }

  public func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkAnswer {
    try await failing {
      let response = try await execute(request)
      guard response.status == .ok else { return answer(response) }
      let disk = try DownloadFile(at: file)
      var count = 0
      for try await part in response.body {
        count += part.readableBytes
        guard count <= request.answerBytesMax else { throw NetworkFailure.tooLarge }
        try part.withUnsafeReadableBytes { bytes throws(NetworkFailure) in try disk.write(bytes) }
      }
      try disk.finish()
      return answer(response)
    }
  }

  private func execute(_ request: NetworkRequest) async throws -> HTTPClientResponse {
    var wire = HTTPClientRequest(url: request.url.absoluteString)
    for (name, value) in request.headers { wire.headers.add(name: name, value: value) }
    if let body = request.body {
      wire.method = .POST
      wire.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
      wire.body = .bytes(body, length: .known(Int64(body.count)))
    }
    let milliseconds = Int64(request.timeoutSeconds * 1_000)
    return try await client.execute(
      wire, deadline: .now() + .milliseconds(milliseconds))
  }

  private func answer(_ response: HTTPClientResponse, body: Data = Data()) -> NetworkAnswer {
    let wait = response.headers.first(name: "Retry-After").flatMap { Int($0) }
    return NetworkAnswer(
      status: Int(response.status.code), body: body,
      retryAfterSeconds: wait.map { min(max($0, 0), NetworkLimit.retryAfterSecondsMax) })
  }

  /// Does `work`, and says in our words why it failed.
  private func failing(
    _ work: () async throws -> NetworkAnswer
  ) async throws -> NetworkAnswer {
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
  /// What an error of the client or the sockets below it means.
  fileprivate init(_ error: any Error) {
    let tooLate: [HTTPClientError] = [.deadlineExceeded, .readTimeout, .writeTimeout]
    switch error {
    case let error as HTTPClientError where tooLate.contains(error): self = .timedOut
    case let error as HTTPClientError where error == .remoteConnectionClosed: self = .interrupted
    case is HTTPParserError: self = .interrupted
    default: self = .unreachable
    }
  }
}
