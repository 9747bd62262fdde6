import Crypto
import ExposureApp
import ExposureNotification
import Foundation
import KeyServer
import Logging
import ServiceLifecycle
import Simulation

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

  /// Starts the servers on loopback and creates three phones; all store their data below `folder`. Key files
  /// are padded to `minimumKeys`.
  init(world: SimulatedWorld, folder: URL, minimumKeys: Int = 1_000) async throws {
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
      minimumKeys: minimumKeys, logger: world.logger)
    services = [checking, RunningService(authority)]
    self.deviceCheck = deviceCheck
    self.authority = authority
    let network = HTTPNetwork(ownMachineTimeoutSeconds: NetworkLimit.ownMachineTimeoutSeconds)
    self.network = network
    let configuration = await authority.appConfiguration()
    let region = authority.regionConfiguration
    let messages = RecordedMessages()
    self.messages = messages
    let verificationServer = await authority.verificationURL
    func phone(_ name: String, _ lane: DemoLane) -> SimulatedPhone {
      SimulatedPhone(
        name: name, folder: folder.appendingPathComponent("phone-\(name)"), world: world,
        configuration: configuration, region: region,
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
    try? await network.shutdown()
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
