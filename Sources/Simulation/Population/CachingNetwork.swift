// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import KeyServerAPI
import Synchronization
import World

/// The network of many phones: a cache in front of the key server, as a content delivery network is, and the servers
/// themselves for everything else.
///
/// Documents and key files are fetched once from the real server. Decoys are counted and not passed on, because no
/// phone reads their responses and they change nothing on a server.
final class CachingNetwork: Network {
  private struct State {
    var responses: [URL: NetworkResponse] = [:]
    var decoyCount = 0
  }

  private let origin: any Network
  private let clock: any WallClock
  private let state = Mutex(State())

  init(_ origin: any Network, clock: any WallClock) {
    self.origin = origin
    self.clock = clock
  }

  var connection: NetworkConnection { get async { .wifi } }

  /// The number of decoys that phones have sent.
  var decoyCount: Int { state.withLock { $0.decoyCount } }

  /// Forgets all documents that change. Key files never do.
  func expire() {
    state.withLock { state in
      state.responses = state.responses.filter { KeyFileName($0.key.lastPathComponent) != nil }
    }
  }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    if request.headers["X-Chaff"] != nil {
      state.withLock { $0.decoyCount += 1 }
      return NetworkResponse(status: 200, date: clock.now)
    }
    guard request.body == nil else { return try await origin.send(request) }
    let response = try await cached(request)
    let known = request.headers["If-None-Match"]
    guard known != nil, known == response.version?.entityTag else { return response }
    return NetworkResponse(status: 304, version: response.version, date: response.date)
  }

  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
    var response = try await cached(request)
    guard response.status == 200 else { return response }
    do {
      try response.body.write(to: file)
    } catch {
      throw NetworkFailure.disk
    }
    response.body = Data()
    return response
  }

  private func cached(_ request: NetworkRequest) async throws -> NetworkResponse {
    var response: NetworkResponse
    if let known = state.withLock({ $0.responses[request.url] }) {
      response = known
    } else {
      let plain = NetworkRequest(request.url, responseBytesMax: request.responseBytesMax)
      response = try await origin.send(plain)
      let new = response
      if new.status == 200 { state.withLock { $0.responses[request.url] = new } }
    }
    response.date = clock.now
    return response
  }
}
