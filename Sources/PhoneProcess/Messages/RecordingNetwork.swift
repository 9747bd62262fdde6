import ExposureApp
import Foundation
import KeyServerAPI
import World

/// A network that records each request of the app.
struct RecordingNetwork: Network {
  private let network: any Network
  private let record: MessageRecord
  private let clock: any WallClock

  /// Records the requests that go through `network`.
  init(_ network: any Network, record: MessageRecord, clock: any WallClock) {
    self.network = network
    self.record = record
    self.clock = clock
  }

  var connection: NetworkConnection {
    get async { await network.connection }
  }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    try await recording(request) {
      let response = try await network.send(request)
      return (response, response.body.count)
    }
  }

  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
    try await recording(request) {
      let response = try await network.download(request, to: file)
      return (response, response.status == 200 ? Self.size(of: file) : 0)
    }
  }

  private func recording(
    _ request: NetworkRequest, _ exchange: () async throws -> (NetworkResponse, received: Int)
  ) async throws -> NetworkResponse {
    var row = MessageRecord.Exchange(request, at: clock.now)
    await record.begin(row)
    do {
      let (response, received) = try await exchange()
      (row.status, row.received) = (response.status, received)
      await record.finish(row)
      return response
    } catch {
      row.failure = error as? NetworkFailure ?? .interrupted
      // Nothing has left the phone.
      if row.failure == .unreachable { row.sent = 0 }
      await record.finish(row)
      throw error
    }
  }

  private static func size(of file: URL) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
    return (attributes?[.size] as? NSNumber)?.intValue ?? 0
  }
}

extension MessageRecord.Exchange {
  /// A request that is sent at `time`: its kind, its receiver and the size of its body.
  fileprivate init(_ request: NetworkRequest, at time: Date) {
    let path = request.url.path
    let isUpload = path.hasSuffix(KeyServerRoute.upload)
    let isOfStatistics = Statistics.isRequest(request.url)
    let kind: MessageRecord.RequestKind =
      if isOfStatistics {
        .statistics
      } else if request.isDecoy {
        .decoy
      } else if request.body != nil {
        isUpload ? .upload : .code
      } else if path.hasSuffix(KeyServerRoute.index) {
        .index
      } else if path.hasSuffix(KeyServerRoute.deviceConfiguration) {
        .deviceConfiguration
      } else if path.hasSuffix(KeyServerRoute.remoteConfiguration) {
        .remoteConfiguration
      } else {
        .keyFile
      }
    self.init(
      id: UUID(), time: time, kind: kind,
      // Every request with a body is an upload or goes to the verification server.
      receiver: isOfStatistics
        ? .statistics : request.body == nil || isUpload ? .keyServer : .verificationServer,
      host: request.url.hostAndPort, sent: request.body?.count ?? 0)
  }
}
