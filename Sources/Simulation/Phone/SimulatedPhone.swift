import DiagnosisKeyFile
import ExposureApp
import ExposureNotification
import Foundation
import Logging
import SealedStorage
import World

/// One phone of a town: the real framework and the real app on a simulated radio, with a folder, a
/// sealing key and an owner of its own.
public final class SimulatedPhone: Sendable {
  /// The owner's name.
  public let name: String
  /// Everything the phone keeps.
  public let folder: URL
  /// The phone below the framework.
  public let device: Device
  /// The app's mind.
  public let app: ExposureApp
  /// Its Bluetooth.
  public let radio: SimulatedRadio
  /// Whoever holds it.
  public let person: SimulatedPerson
  /// What it has shown.
  public let notices: NoticeBoard
  /// What it wants to be woken for.
  public let alarm: AlarmClock

  /// A phone fresh out of the box, keeping its data in `folder`.
  public init(
    name: String, folder: URL, town: SimulatedTown, configuration: AppConfiguration,
    region: RegionConfiguration, deviceCheck: any DeviceAttestation, network: any Network
  ) {
    self.name = name
    self.folder = folder
    let chance = town.chance.source("phone \(name)")
    let sealingKey = SealingKey(from: chance)
    radio = SimulatedRadio(name: name, air: town.air)
    person = SimulatedPerson()
    notices = NoticeBoard()
    alarm = AlarmClock()
    let device = Device(
      radio: radio, consent: person, clock: town.clock, randomness: chance,
      folder: folder.appendingPathComponent("framework"), sealingKey: sealingKey, region: region,
      bundleIdentifier: configuration.appPackageName,
      entitlements: [.exposureNotification, .test], transmitPower: AirModel.transmitPower,
      logger: town.logger)
    self.device = device
    app = ExposureApp(
      manager: ENManager(device: device), authorizationStatus: { device.authorizationStatus },
      configuration: configuration, folder: folder.appendingPathComponent("app"),
      sealingKey: sealingKey, clock: town.clock, randomness: chance, network: network,
      scheduler: alarm, notices: notices, deviceCheck: deviceCheck,
      countKeys: { try UnverifiedKeyFile(at: $0).inspect().keyCount }, logger: town.logger)
  }
}
