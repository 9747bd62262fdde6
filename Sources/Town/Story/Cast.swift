import Crypto
import ExposureApp
import ExposureNotification
import Foundation
import KeyServer
import Logging
import Simulation

/// Everybody in the story: the authority that checks devices, the health authority, three phones.
struct Cast {
  let deviceCheck: DeviceCheckAuthority
  let authority: SimulatedHealthAuthority
  let network: HTTPNetwork
  let near: SimulatedPhone
  let far: SimulatedPhone
  let diagnosed: SimulatedPhone
  /// What runs in the background and has to be stopped.
  let services: [ServerRun]

  var phones: [SimulatedPhone] { [near, far, diagnosed] }

  /// Starts the servers on loopback and takes three phones out of the box; all keep their data below
  /// `folder`. Key files are padded to `minimumKeys` at least.
  init(town: SimulatedTown, folder: URL, minimumKeys: Int = 1_000) async throws {
    let teamKey = P256.Signing.PrivateKey()
    let deviceCheck = DeviceCheckAuthority(
      team: try DeviceCheckTeam(
        id: Self.teamID, keyID: Self.teamKeyID, publicKeyPEM: teamKey.publicKey.pemRepresentation),
      clock: town.clock, randomness: town.chance.source("device check"))
    let deviceCheckServer = DeviceCheckServer(deviceCheck, logger: town.logger)
    let checking = ServerRun(deviceCheckServer)
    let authority = try SimulatedHealthAuthority(
      folder: folder.appendingPathComponent("health-authority"), clock: town.clock,
      randomness: town.chance,
      deviceCheck: DeviceCheckConfiguration(
        baseURL: .loopback(port: await deviceCheckServer.boundPort), teamID: Self.teamID,
        keyID: Self.teamKeyID, privateKeyPEM: teamKey.pemRepresentation),
      minimumKeys: minimumKeys, logger: town.logger)
    services = [checking, ServerRun(authority)]
    self.deviceCheck = deviceCheck
    self.authority = authority
    let network = HTTPNetwork()
    self.network = network
    let configuration = try await authority.appConfiguration()
    let region = try authority.regionConfiguration()
    func phone(_ name: String) -> SimulatedPhone {
      SimulatedPhone(
        name: name, folder: folder.appendingPathComponent("phone-\(name)"), town: town,
        configuration: configuration, region: region,
        deviceCheck: GenuineDevice { await deviceCheck.issueToken() }, network: network)
    }
    near = phone("near")
    far = phone("far")
    diagnosed = phone("diagnosed")
  }

  /// Stops everything that runs.
  func leave() async {
    for service in services { await service.stop() }
    try? await network.shutdown()
  }

  private static let teamID = "FIREBREAK1"
  private static let teamKeyID = "DEVICECHK1"
}
