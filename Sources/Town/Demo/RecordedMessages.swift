import ExposureApp
import Foundation
import Simulation
import Synchronization

/// The bodies of all messages of the demo by their receiver, to search them afterwards.
final class RecordedMessages: Sendable {
  private struct State {
    var bodies: [DemoLane: [Data]] = [:]
    var keyFiles: [DemoLane: [Data]] = [:]
  }

  private let state = Mutex(State())

  /// The bodies that a party received.
  func bodies(to receiver: DemoLane) -> [Data] { state.withLock { $0.bodies[receiver] ?? [] } }

  /// The key files, zip archives, that a phone downloaded.
  func keyFiles(on phone: DemoLane) -> [Data] { state.withLock { $0.keyFiles[phone] ?? [] } }

  fileprivate func add(_ body: Data?, to receiver: DemoLane) {
    guard let body, !body.isEmpty else { return }
    state.withLock { $0.bodies[receiver, default: []].append(body) }
  }

  fileprivate func add(keyFile: Data, on phone: DemoLane) {
    state.withLock { $0.keyFiles[phone, default: []].append(keyFile) }
  }
}

/// The network of one phone, which records the bodies of requests and responses.
struct RecordedNetwork: Network {
  let network: any Network
  let phone: DemoLane
  let verificationServer: URL
  let messages: RecordedMessages

  var connection: NetworkConnection {
    get async { await network.connection }
  }

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    messages.add(request.body, to: receiver(of: request))
    let response = try await network.send(request)
    messages.add(response.body, to: phone)
    return response
  }

  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
    messages.add(request.body, to: receiver(of: request))
    let response = try await network.download(request, to: file)
    if response.status == 200 {
      messages.add(keyFile: try Data(contentsOf: file), on: phone)
    }
    return response
  }

  private func receiver(of request: NetworkRequest) -> DemoLane {
    request.url.port == verificationServer.port ? .verificationServer : .keyServer
  }
}
