// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Logging
import SealedStorage
import Synchronization
import World

/// The phone below Apple's API: radio, consent, clock, randomness, storage and region.
///
/// A program creates one, installs it with `Device.install(_:)` for every `ENManager()`, and keeps
/// `run()` running.
public final class Device: Sendable {
  let currentRegion: Mutex<RegionConfiguration>
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
  let reports: DamageReports
  let retention: Retention
  let state = DeviceState()
  let consentStore: ConsentStore
  let beacons: Beacons
  let contacts: Contacts
  let detectionStore: DetectionStore
  let mutex = AsyncMutex()
  /// Serializes detections: each starts with the keys that the previous one retained.
  let detectionMutex = AsyncMutex()
  let activities = ActivityListeners()

  /// A device that stores its data in `folder`, sealed with `sealingKey`. Stored data is read at once;
  /// nothing is sent before `run()`.
  ///
  /// - Parameters:
  ///   - radio: the device's Bluetooth.
  ///   - consent: the prompts for the user.
  ///   - clock: the time of day.
  ///   - randomness: the source of new keys.
  ///   - folder: an existing folder that only this device uses.
  ///   - sealingKey: the key that encrypts and decrypts the data in `folder`; with another key all files
  ///     look damaged, so check it with `keyMatches(folder:sealingKey:randomness:)` before.
  ///   - region: the region whose key files are trusted; `setTrustedKeys(_:)` replaces its keys.
  ///   - bundleIdentifier: the app's name, as the consent prompt shows it.
  ///   - apiVersion: 1 or 2, Apple's `ENAPIVersion`; other numbers count as 1, and so does 2 under a
  ///     `variant` before iOS 14.
  ///   - entitlements: the calls that the app may make.
  ///   - variant: the iOS release whose rules apply.
  ///   - detectionsPerDay: calls of `detectExposures` in 24 hours; nil for 15 in version 1 and 6 in
  ///     version 2.
  ///   - sightingsPerDetection: sightings that a detection may hold in memory at once; with more it
  ///     fails with `.insufficientMemory`. Nil for all that the device keeps (at most 3,520,000).
  ///     A board with little memory sets less: a million sightings need 300 MB.
  ///   - travel: the user's travel history; nil if there is none.
  ///   - calibration: the calibration of the radio: its transmit power is stated in the beacons, its
  ///     receiver correction is added to received signal strengths.
  ///   - logger: the log for failures; no secret is logged.
  public init(
    radio: any Radio, consent: any ConsentPrompt, clock: any WallClock,
    randomness: any Randomness, folder: URL, sealingKey: SealingKey, region: RegionConfiguration,
    bundleIdentifier: String, apiVersion: Int = 1,
    entitlements: Entitlements = .exposureNotification, variant: Variant = .latest,
    detectionsPerDay: Int? = nil, sightingsPerDetection: Int? = nil,
    travel: (any TravelHistory)? = nil, calibration: Calibration = .unknownModel,
    logger: Logger = Logger(label: "firebreak.device")
  ) {
    currentRegion = Mutex(region)
    self.apiVersion = variant.apiVersions.contains(apiVersion) ? apiVersion : 1
    self.variant = variant
    self.detectionsPerDay =
      detectionsPerDay ?? DeviceLimit.detectionsPerDay(ofVersion: self.apiVersion)
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
    let reports = DamageReports(file: file("damage"), clock: clock, logger: logger)
    self.reports = reports
    retention = Retention(file: file("clock"), clock: clock, reports: reports, logger: logger)
    let keys = SealedDays(
      folder: folder.appendingPathComponent("keys"), key: sealingKey, purpose: "keys",
      randomness: randomness)
    consentStore = ConsentStore(
      prompt: consent, bundleIdentifier: bundleIdentifier, file: file("permission"),
      // If they cannot be read, the keys report it.
      isExpected: (try? keys.days().isEmpty) == false, reports: reports, state: state,
      logger: logger)
    beacons = Beacons(
      radio: radio, randomness: randomness, calibration: calibration,
      files: OwnKeyFiles(files: keys, reports: reports), logger: logger)
    contacts = Contacts(
      radio: radio, clock: clock,
      log: SealedLog(
        folder: folder.appendingPathComponent("contacts"), key: sealingKey, purpose: "contacts",
        randomness: randomness), receiverCorrection: calibration.receiverCorrection,
      reports: reports, logger: logger)
    detectionStore = DetectionStore(
      file: file("detections"), keys: RetainedKeyStore(file: file("matches")), reports: reports)
  }

  private static let installation = Mutex<Device?>(nil)

  /// Sets the device of every `ENManager()` that is created from now on.
  public static func install(_ device: Device) {
    installation.withLock { $0 = device }
  }

  static var installed: Device? { installation.withLock { $0 } }

  /// The user's decision about exposure notification.
  public var authorizationStatus: ENAuthorizationStatus { state.consent.authorization }

  /// The state of sending and receiving beacons.
  public var status: ENStatus { state.status }

  /// True if the user has turned exposure notification on.
  public var isEnabled: Bool { state.consent.isEnabled }
}

extension Device {
  /// Sends and receives beacons, changes keys and identifiers and removes old data until the task is
  /// cancelled. Then the radio stops.
  public func run() async throws {
    do {
      while true {
        try await clock.sleep(until: await beat())
      }
    } catch {
      await stopRadioAfterCancellation()
      throw error
    }
  }

  /// Runs everything that is due now and returns the time of the next call.
  ///
  /// `run()` only calls this and sleeps; a simulation calls it by its own clock instead.
  @discardableResult
  package func beat() async -> Date {
    // The work does not throw; `withLock` passes on errors of work that does.
    let next = try? await mutex.withLock { await self.runDueWork() }
    return next ?? clock.now.addingTimeInterval(DeviceLimit.powerCheckSeconds)
  }

  /// Runs everything that is due now and sends beacons until `end`, for a simulation that computes this time at once.
  ///
  /// - Returns: The beacons in the order of their times; none while the device is off.
  package func sendBeacons(until end: Date) async -> [ScheduledBeacon] {
    // The work does not throw; `withLock` passes on errors of work that does.
    let sent = try? await mutex.withLock {
      _ = await self.runDueWork()
      guard self.state.status == .active else { return [ScheduledBeacon]() }
      return await self.beacons.send(from: self.clock.now, until: end)
    }
    return sent ?? []
  }

  /// Stores scans that a radio has collected, each as `Radio` passes it on. On return they are on the disk.
  ///
  /// - Parameter scans: In the order of their times.
  package func receive(_ scans: [Scan]) async { await contacts.receive(scans) }

  /// Wakes the app: passes `reason` to the activity handlers of its managers. Called by the program
  /// that acts as the system: a scheduler when the app's regular check is due (`.periodicRun`), a
  /// notification when it is tapped. A reason without a handler is pending until the first manager
  /// with a handler is activated.
  public func wakeApp(for reason: ENActivityFlags) {
    activities.notify(reason)
  }

  /// Called when an app's manager is activated.
  func admitManager() async throws(ENError) {
    guard entitlements.contains(.exposureNotification) else { throw ENError(.notEntitled) }
    await beat()
  }

  /// The work of one `beat()`. Called while `mutex` is held.
  func runDueWork() async -> Date {
    let now = clock.now
    state.setPoweredOn(await radio.isPoweredOn)
    await consentStore.readAgain()
    let period = retention.period(at: now)
    reports.prune(keeping: period)
    await beacons.prune(keeping: period)
    await contacts.prune(keeping: period)
    let latest = now.addingTimeInterval(DeviceLimit.powerCheckSeconds)
    guard state.status == .active else {
      await stopRadio()
      return latest
    }
    await contacts.listen()
    guard let next = await beacons.send(at: now) else { return latest }
    return min(next, latest)
  }

  func stopRadio() async {
    await beacons.stop()
    await contacts.stop()
  }

  private func stopRadioAfterCancellation() async {
    // `withLock` runs its work in a task of its own, which the cancellation does not reach. The work does not throw.
    _ = try? await mutex.withLock { await self.stopRadio() }
  }
}

extension Device {
  /// The iOS release whose rules apply where Apple changed them.
  public enum Variant: Sendable, CaseIterable {
    /// iOS 13.5: the limit counts new files instead of calls, durations are rounded up to five minutes,
    /// keys of less than a day are skipped. API version 1 only.
    case ios13_5
    /// iOS 13.6: the limit counts calls, durations are rounded up to a minute. API version 1 only.
    case ios13_6
    /// iOS 14 and later: both API versions, pre-authorized keys, travel.
    case ios14

    /// The default of a device.
    public static let latest = Variant.ios14
  }
}

extension Device.Variant {
  fileprivate var apiVersions: ClosedRange<Int> { self == .ios14 ? 1...2 : 1...1 }

  /// The minutes to whose multiple the duration of an exposure is rounded up.
  var durationStep: Int { self == .ios13_5 ? 5 : 1 }

  /// True if keys that were used for less than a day are skipped.
  var requiresFullDayKeys: Bool { self == .ios13_5 }
}

/// The rights that the maker of the system grants an app.
public struct Entitlements: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  /// The entitlements whose bits are set.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Use of the framework: `com.apple.developer.exposure-notification`.
  public static let exposureNotification = Entitlements(rawValue: 1)
  /// Test calls: `com.apple.developer.exposure-notification-test`.
  public static let test = Entitlements(rawValue: 2)
}

/// The device's travel history, the source of `getUserTraveled`.
///
/// The framework has no map; the program that creates the `Device` provides the history.
public protocol TravelHistory: Sendable {
  /// Returns `true` if the device has been outside `region` (ISO 3166) after `date`; nil if unknown.
  ///
  /// - Throws: if reading the history failed; the app's call then fails with `.unknown`.
  func hasLeft(_ region: String, since date: Date) async throws -> Bool?
}

extension Device {
  /// Returns `true` if the user has left the region within the retention period.
  package func hasTraveled() async throws -> Bool {
    try requireLatest()
    try requireEnabled()
    guard let travel else { throw ENError(.travelStatusNotAvailable) }
    if !state.consent.showsTravel {
      guard try await consentStore.allows(.showTravelStatus) else {
        throw ENError(.travelStatusNotAvailable)
      }
      try await mutex.withLock { try await self.consentStore.update { $0.showsTravel = true } }
    }
    let start = clock.now.addingTimeInterval(-Double(DeviceLimit.retentionDays) * Day.seconds)
    guard let hasLeft = try await travel.hasLeft(region.region, since: start) else {
      throw ENError(.travelStatusNotAvailable)
    }
    return hasLeft
  }
}
