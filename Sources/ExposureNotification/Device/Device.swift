import ExposureKeys
import Foundation
import Logging
import SealedStorage
import Synchronization
import World

/// The phone below Apple's API: radio, consent, clock, chance, disk and region in one place.
///
/// A program makes one, installs it with `Device.install(_:)` for every `ENManager()`, and keeps
/// `run()` running. See Documentation/Framework.md 2.
public final class Device: Sendable {
  let region: RegionConfiguration
  let apiVersion: Int
  let variant: Variant
  let detectionsPerDay: Int
  let sightingsPerDetection: Int
  let travel: (any TravelHistory)?
  let entitlements: Entitlements
  let radio: any Radio
  let clock: any WallClock
  let randomness: any Randomness
  let folder: URL
  let logger: Logger
  let standing: Standing
  let permissions: Permissions
  let beacons: Beacons
  let contacts: Contacts
  let detections: Detections
  let turns = Turns()
  /// Detections go one after the other: each begins with what the last one kept.
  let detectionTurns = Turns()
  let activities = Activities()

  /// A phone that keeps everything in `folder`, sealed by `sealingKey`. What was remembered there is
  /// read at once; nothing is sent before `run()`.
  ///
  /// - Parameters:
  ///   - radio: the phone's Bluetooth.
  ///   - consent: how the person is asked.
  ///   - clock: the time of day.
  ///   - randomness: where new keys come from.
  ///   - folder: where everything is kept; it must be there, and this phone's alone.
  ///   - sealingKey: without it nothing in `folder` can be read again.
  ///   - region: whose key files are trusted.
  ///   - bundleIdentifier: the app's name, as the consent prompt shows it.
  ///   - apiVersion: 1 or 2, Apple's `ENAPIVersion`; other numbers count as 1, and so does 2 under a
  ///     `variant` before iOS 14.
  ///   - entitlements: what the app may call.
  ///   - variant: whose rules hold where Apple changed them.
  ///   - detectionsPerDay: calls of `detectExposures` in 24 hours; 15 in version 1 and 6 in version
  ///     2 where it is nil.
  ///   - sightingsPerDetection: sightings that a detection may hold in memory at once; with more to look
  ///     through it fails with `.insufficientMemory`. Where it is nil, all that the phone keeps
  ///     (3,520,000 at most). For a board with little memory: Documentation/Framework.md 6.7.
  ///   - travel: what is known of the person's travels; nil where nothing is.
  ///   - transmitPower: the radio's power in dBm, as the beacons state it.
  ///   - logger: told what went wrong, and no secret.
  public init(
    radio: any Radio, consent: any ConsentPrompt, clock: any WallClock,
    randomness: any Randomness, folder: URL, sealingKey: SealingKey, region: RegionConfiguration,
    bundleIdentifier: String, apiVersion: Int = 1,
    entitlements: Entitlements = .exposureNotification, variant: Variant = .latest,
    detectionsPerDay: Int? = nil, sightingsPerDetection: Int? = nil,
    travel: (any TravelHistory)? = nil, transmitPower: Int8 = 8,
    logger: Logger = Logger(label: "firebreak.device")
  ) {
    self.region = region
    self.apiVersion = variant.apiVersions.contains(apiVersion) ? apiVersion : 1
    self.variant = variant
    self.detectionsPerDay =
      detectionsPerDay
      ?? (self.apiVersion == 2
        ? DeviceLimit.detectionsPerDayVersion2 : DeviceLimit.detectionsPerDayVersion1)
    self.sightingsPerDetection = sightingsPerDetection ?? DeviceLimit.sightingsPerDetection
    self.travel = travel
    self.entitlements = entitlements
    self.radio = radio
    self.clock = clock
    self.randomness = randomness
    self.folder = folder
    self.logger = logger
    func file(_ name: String) -> SealedFile {
      SealedFile(
        url: folder.appendingPathComponent(name), key: sealingKey, purpose: name,
        randomness: randomness)
    }
    let permission = file("permission")
    standing = Standing(permission: Permissions.remembered(in: permission, logger: logger))
    permissions = Permissions(
      consent: consent, bundleIdentifier: bundleIdentifier, file: permission, standing: standing)
    beacons = Beacons(
      radio: radio, randomness: randomness, transmitPower: transmitPower, file: file("keys"),
      logger: logger)
    contacts = Contacts(
      radio: radio, clock: clock,
      log: SealedLog(
        folder: folder.appendingPathComponent("contacts"), key: sealingKey, purpose: "contacts",
        randomness: randomness), logger: logger)
    detections = Detections(
      file: file("detections"), keys: KeptKeys(file: file("matches"), logger: logger),
      logger: logger)
  }

  private static let installation = Mutex<Device?>(nil)

  /// Makes `device` the one of every `ENManager()` made from now on.
  public static func install(_ device: Device) {
    installation.withLock { $0 = device }
  }

  static var installed: Device? { installation.withLock { $0 } }

  /// Whether the person lets the app use exposure notification.
  public var authorizationStatus: ENAuthorizationStatus { standing.permission.authorization }

  /// Whether beacons are sent and heard, and if not, why.
  public var status: ENStatus { standing.status }

  /// Whether the person has switched exposure notification on.
  public var isEnabled: Bool { standing.permission.isEnabled }
}
