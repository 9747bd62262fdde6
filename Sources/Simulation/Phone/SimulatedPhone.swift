import DiagnosisKeyFile
import ExposureApp
import ExposureNotification
import Foundation
import Logging
import SealedStorage
import Synchronization
import World

/// A phone with the real framework and the real app on a simulated radio.
public final class SimulatedPhone: Sendable {
  /// The name of the phone.
  public let name: String
  /// The folder for all data of the phone.
  public let folder: URL
  /// The device below the framework.
  public let device: Device
  /// The app.
  public let app: ExposureApp
  /// The Bluetooth radio.
  public let radio: SimulatedRadio
  /// The user who consents or refuses.
  public let user: SimulatedUser
  /// The notices that the app has shown.
  public let notices: SimulatedNotices
  /// The background requests of the app.
  public let scheduler: SimulatedScheduler

  /// Creates a new phone that stores its data in `folder`.
  public init(
    name: String, folder: URL, world: SimulatedWorld, configuration: AppConfiguration,
    region: RegionConfiguration, deviceCheck: any DeviceAttestation, network: any Network
  ) {
    self.name = name
    self.folder = folder
    let randomness = world.randomness.source("phone \(name)")
    let sealingKey = SealingKey(from: randomness)
    radio = SimulatedRadio(name: name, air: world.air)
    user = SimulatedUser()
    notices = SimulatedNotices()
    scheduler = SimulatedScheduler()
    let device = Device(
      radio: radio, consent: user, clock: world.clock, randomness: randomness,
      folder: folder.appendingPathComponent("framework"), sealingKey: sealingKey, region: region,
      bundleIdentifier: configuration.appPackageName,
      entitlements: [.exposureNotification, .test], calibration: AirModel.calibration,
      logger: world.logger)
    self.device = device
    app = ExposureApp(
      manager: ENManager(device: device), authorizationStatus: { device.authorizationStatus },
      configuration: configuration, folder: folder.appendingPathComponent("app"),
      sealingKey: sealingKey, clock: world.clock, randomness: randomness, network: network,
      scheduler: scheduler, notices: notices, deviceCheck: deviceCheck, trust: device,
      countKeys: { try UnverifiedKeyFile(at: $0).inspect().keyCount },
      damage: { device.storageDamage.map { DataDamage($0) } }, logger: world.logger)
  }
}

/// The user of a simulated phone, who consents when the system asks.
public final class SimulatedUser: ConsentPrompt {
  private let received = Mutex<[ConsentRequest]>([])

  /// Creates a user.
  public init() {}

  /// All requests for consent, in order.
  public var requests: [ConsentRequest] { received.withLock { $0 } }

  public func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool {
    received.withLock { $0.append(request) }
    return true
  }
}

/// A device attestation with tokens from a simulated DeviceCheck.
public struct SimulatedAttestation: DeviceAttestation {
  private let issue: @Sendable () async -> Data

  /// Creates an attestation that gets its tokens from `issue`.
  public init(issue: @escaping @Sendable () async -> Data) {
    self.issue = issue
  }

  public func token() async throws -> Data {
    await issue()
  }
}
