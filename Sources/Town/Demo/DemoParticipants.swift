// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureApp
import Foundation
import KeyServer
import Logging
import ServiceLifecycle
import Simulation
import Synchronization

/// The servers and phones of the demo.
struct DemoParticipants {
  let deviceCheck: SimulatedDeviceCheck
  let authority: SimulatedHealthAuthority
  let network: HTTPNetwork
  /// The messages of the phones.
  let messages: RecordedMessages
  let near: SimulatedPhone
  let far: SimulatedPhone
  let diagnosed: SimulatedPhone
  /// The running servers.
  let services: [RunningService]

  var phones: [SimulatedPhone] { [near, far, diagnosed] }

  /// Starts the servers on loopback and creates three phones; all store their data below `folder`.
  init(world: SimulatedWorld, folder: URL) async throws {
    let teamKey = P256.Signing.PrivateKey()
    let deviceCheck = SimulatedDeviceCheck(
      team: try DeviceCheckTeam(
        id: Self.teamID, keyID: Self.teamKeyID, publicKeyPEM: teamKey.publicKey.pemRepresentation),
      clock: world.clock, randomness: world.randomness.source("device check"))
    let deviceCheckServer = SimulatedDeviceCheckServer(deviceCheck, logger: world.logger)
    let checking = RunningService(deviceCheckServer)
    let authority = try SimulatedHealthAuthority(
      folder: folder.appendingPathComponent("health-authority"), clock: world.clock,
      randomness: world.randomness,
      deviceCheck: DeviceCheckConfiguration(
        baseURL: .loopback(port: await deviceCheckServer.boundPort), teamID: Self.teamID,
        keyID: Self.teamKeyID, privateKeyPEM: teamKey.pemRepresentation),
      logger: world.logger)
    services = [checking, RunningService(authority)]
    self.deviceCheck = deviceCheck
    self.authority = authority
    let network = HTTPNetwork(ownMachineTimeoutSeconds: NetworkLimit.ownMachineTimeoutSeconds)
    self.network = network
    let configuration = await authority.appConfiguration()
    let messages = RecordedMessages()
    self.messages = messages
    let verificationServer = await authority.verificationURL
    func phone(_ name: String, _ lane: DemoLane) -> SimulatedPhone {
      SimulatedPhone(
        name: name, folder: folder.appendingPathComponent("phone-\(name)"), world: world,
        configuration: configuration,
        deviceCheck: SimulatedAttestation { await deviceCheck.issueToken() },
        network: RecordedNetwork(
          network: network, phone: lane, verificationServer: verificationServer,
          messages: messages))
    }
    near = phone("near", .near)
    far = phone("far", .far)
    diagnosed = phone("diagnosed", .diagnosed)
  }

  /// Stops all servers.
  func stop() async {
    for service in services { await service.stop() }
    await network.shutdown()
  }

  private static let teamID = "FIREBREAK1"
  private static let teamKeyID = "DEVICECHK1"
}

/// A server in a background task.
struct RunningService {
  private let task: Task<Void, any Error>

  init(_ service: any Service) {
    task = Task { try await service.run() }
  }

  /// Stops the server and waits until it has released its port and files.
  func stop() async {
    task.cancel()
    _ = await task.result
  }
}

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
