// SPDX-License-Identifier: Apache-2.0
import DesktopNotifications
import DiagnosisKeyFile
import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import Logging
import SealedStorage
import Synchronization
import UnixSockets
import World

/// One phone: the framework, the app's engine and its background schedule, without a user interface.
///
/// `run()` runs it until it is stopped. `perform(_:)` executes an operation of its owner, also while it does not run.
package final class Phone: Sendable {
  /// The dependencies of a phone.
  package struct Surroundings: Sendable {
    package let clock: any WallClock
    package let randomness: any Randomness
    package let network: any Network
    package let radio: any Radio
    /// Drives the radio as long as the phone runs.
    package let runRadio: @Sendable () async -> Void
    /// Yields when the radio becomes ready or fails; `nil` for a radio that is always ready.
    package let radioChanges: AsyncStream<Void>?
    /// The desktop that shows notices; `nil` if there is none.
    package let desktop: DesktopNotifications?
    /// The version of the program.
    package let version: String
    /// The language of texts until the owner chooses one.
    package let language: Language
    /// The time zone of the owner's calendar.
    package let zone: TimeZone
    package let logger: Logger

    package init(
      clock: any WallClock, randomness: any Randomness, network: any Network, radio: any Radio,
      runRadio: @escaping @Sendable () async -> Void = {},
      radioChanges: AsyncStream<Void>? = nil, desktop: DesktopNotifications?,
      version: String = "", language: Language = .english,
      zone: TimeZone, logger: Logger
    ) {
      self.clock = clock
      self.randomness = randomness
      self.network = network
      self.radio = radio
      self.runRadio = runRadio
      self.radioChanges = radioChanges
      self.desktop = desktop
      self.version = version
      self.language = language
      self.zone = zone
      self.logger = logger
    }
  }

  let folder: PhoneFolder
  package let settings: PhoneSettings
  package let device: Device
  package let app: ExposureApp
  let consent = PhoneConsent()
  package let preferences: PhonePreferences
  package let notices: PhoneNotices
  let messages: MessageRecord
  /// The statistics of the health authority; `nil` if the configuration names no server.
  package let statistics: Statistics?
  let travel: TravelLog
  let key: SealingKey
  /// Private, because code outside uses the network and the radio that are recorded.
  private let surroundings: Surroundings
  private let running = Mutex(false)
  private let radio: CountingRadio
  /// The lock of the folder while the phone runs.
  private let lock = Mutex<HeldFolderLock?>(nil)
  /// The result of the last upload that a user interface has not shown.
  let lastUpload = Mutex<UploadReport?>(nil)

  /// Opens the phone in `folder`. The caller holds the lock of the folder.
  package init(
    in folder: PhoneFolder, key: SealingKey, settings: PhoneSettings,
    surroundings: Surroundings
  ) {
    let (clock, randomness) = (surroundings.clock, surroundings.randomness)
    let logger = surroundings.logger
    (self.folder, self.key, self.settings) = (folder, key, settings)
    self.surroundings = surroundings
    let preferences = PhonePreferences(
      in: folder, key: key, language: surroundings.language, randomness: randomness)
    self.preferences = preferences
    let retention = PhoneRetention()
    let travel = TravelLog(
      in: folder, key: key, clock: clock, retention: retention, randomness: randomness,
      logger: logger)
    self.travel = travel
    let notices = PhoneNotices(
      in: folder, key: key, desktop: surroundings.desktop, preferences: preferences, clock: clock,
      retention: retention, randomness: randomness, logger: logger)
    self.notices = notices
    messages = MessageRecord(
      in: folder, key: key, clock: clock, retention: retention, randomness: randomness,
      logger: logger)
    let network = RecordingNetwork(surroundings.network, record: messages, clock: clock)
    statistics = settings.statistics.map {
      Statistics(
        of: $0, network: network, in: folder, key: key, clock: clock, randomness: randomness,
        logger: logger)
    }
    radio = CountingRadio(surroundings.radio, record: messages)
    let device = Device(
      radio: radio, consent: consent, clock: clock,
      randomness: randomness, folder: folder.framework, sealingKey: key, region: settings.region,
      bundleIdentifier: settings.app.appPackageName, apiVersion: settings.apiVersion,
      travel: travel, calibration: settings.calibration, logger: logger)
    self.device = device
    app = ExposureApp(
      manager: ENManager(device: device), authorizationStatus: { device.authorizationStatus },
      configuration: settings.app, folder: folder.app, sealingKey: key, clock: clock,
      randomness: randomness, network: network, scheduler: NoScheduler(),
      notices: notices, deviceCheck: UnattestedDevice(randomness: randomness), trust: device,
      inspect: { try Self.facts(of: $0) },
      damage: { await Self.damage(of: device, travel, notices) }, logger: logger)
    connect(retention)
  }

  /// Connects what is created before the device and the app with them.
  private func connect(_ retention: PhoneRetention) {
    retention.follow(device)
    consent.grantFollowingDays { [weak app] in
      await app?.currentState.followUp?.status == .active
    }
  }

  /// The header and the number of keys of a key file.
  private static func facts(of file: URL) throws -> KeyFileFacts {
    let summary = try UnverifiedKeyFile(at: file).inspect()
    // A file without its signatures has lost a part, like one that is cut.
    guard !summary.signatures.isEmpty else { throw KeyFileError.unsigned }
    let header = summary.header
    return KeyFileFacts(
      start: header.start, end: header.end, region: header.region, keyCount: summary.keyCount)
  }

  /// The damage that was found in the storage of the framework and of the phone process.
  private static func damage(
    of device: Device, _ travel: TravelLog, _ notices: PhoneNotices
  ) async -> [DataDamage] {
    let own = [
      travel.damageFound.map { DataDamage(.travel, found: $0) },
      await notices.damageFound.map { DataDamage(.notices, found: $0) },
    ]
    return device.storageDamage.map { DataDamage($0) } + own.compactMap(\.self)
  }

  package var clock: any WallClock { surroundings.clock }
  /// The time zone of the owner's days.
  var zone: TimeZone { surroundings.zone }
  /// The version of the program that `status` prints.
  var version: String { surroundings.version }

  /// The radio for developers; `nil` if the phone was not started with `--developer`.
  package var developerRadio: DeveloperRadio? { surroundings.radio as? DeveloperRadio }

  /// The radio as the state reports it.
  var radioState: PhoneState.Radio {
    get async {
      guard isRunning else { return .unused }
      let hasBluetooth = developerRadio?.hasBluetooth ?? !(surroundings.radio is NoRadio)
      guard hasBluetooth else { return .none }
      return await radio.isPoweredOn ? .on : .off
    }
  }

  /// Makes a sequence that yields after changes of the state. Changes of the preferences are not among them: their
  /// caller knows.
  package func makeChanges() -> AsyncStream<Void> {
    let changes = app.makeStateChanges()
    let statuses = device.makeStatusChanges()
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let reading = Task {
      for await _ in changes { continuation.yield() }
      continuation.finish()
    }
    let watching = Task {
      for await _ in statuses { continuation.yield() }
    }
    continuation.onTermination = { _ in
      reading.cancel()
      watching.cancel()
    }
    return stream
  }

  /// True while `run()` runs.
  package var isRunning: Bool { running.withLock { $0 } }

  /// Prepares the phone for operations. It sends and receives nothing before `run()`.
  package func start() async {
    await app.start()
  }

  /// Sends and receives beacons, checks on schedule and serves the owner's commands until the task is cancelled.
  ///
  /// - Parameters:
  ///   - held: The lock of the folder. If the path gets another folder, the phone stops: the lock does not protect it.
  ///   - ready: Called when commands are served.
  /// - Throws: `UnixSocketError` if the socket cannot be opened; `PhoneFolderReplaced`.
  package func run(
    holding held: HeldFolderLock? = nil, ready: @Sendable () throws -> Void
  ) async throws {
    lock.withLock { $0 = held }
    let socket = try PhoneSocket(in: folder.url, logger: surroundings.logger)
    // Before the start: the first beacon is sent by it.
    radio.startCounting()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await self.surroundings.runRadio() }
      // A radio that is still being opened must not be reported as off.
      await openRadio(in: &group)
      await start()
      running.withLock { $0 = true }
      defer { running.withLock { $0 = false } }
      group.addTask { await socket.serve { await self.perform($0) } }
      group.addTask { try await self.watch(socket) }
      // It throws only when the task is cancelled.
      group.addTask { try? await self.device.run() }
      group.addTask { await self.app.runSchedule() }
      group.addTask { await self.storeMessages() }
      do { try ready() } catch {
        group.cancelAll()
        throw error
      }
      // Unlike `waitForAll`, this ends the others with the first error.
      for try await _ in group {}
    }
  }

  /// Stores the record of messages whenever a check or an upload has ended.
  private func storeMessages() async {
    for await change in app.makeStateChanges() {
      switch change.reason {
      case .checkFinished, .uploadFinished: await updateRecords()
      default: break
      }
    }
    await messages.flush()
  }

  /// Stores the record of messages, and removes expired stays and notices.
  func updateRecords() async {
    await messages.flush()
    // If the file cannot be written, the next check tries again.
    try? travel.removeOld()
    await notices.removeOld()
  }

  /// Recreates the socket's file periodically if it was removed, and ends the phone if its folder was replaced.
  private func watch(_ socket: PhoneSocket) async throws {
    while await clock.sleepUnlessCancelled(for: PhoneLimit.socketWatchSeconds) {
      if let replaced {
        await messages.close()
        throw replaced
      }
      socket.restore()
    }
  }

  /// The error if the path of the folder has another folder than the one that this phone has locked.
  var replaced: PhoneFolderReplaced? {
    guard let held = lock.withLock({ $0 }), !held.isOn(folder.url) else { return nil }
    return PhoneFolderReplaced(path: folder.url.path)
  }

  /// Passes the radio's changes to the device. Returns after the first change or a timeout.
  private func openRadio(in group: inout ThrowingTaskGroup<Void, any Error>) async {
    guard let radioChanges = surroundings.radioChanges else { return }
    let (opening, opened) = AsyncStream.makeStream(of: Void.self)
    group.addTask {
      for await _ in radioChanges {
        await self.device.beat()
        opened.finish()
      }
    }
    let limit = Task {
      await clock.sleepUnlessCancelled(for: PhoneLimit.radioSeconds)
      opened.finish()
    }
    for await _ in opening {}
    limit.cancel()
  }
}

/// The constants of a phone, which its owner or their health authority puts into a file.
package struct PhoneSettings: Sendable {
  /// The servers, the region, the app and the health authority's root key. With rules for exposure windows the
  /// phone has version 2 of the framework's interface, otherwise version 1.
  package let app: AppConfiguration

  /// The calibration of the phone's radio.
  package let calibration: Calibration

  /// The server of the health authority's statistics; `nil` without one.
  package let statistics: URL?
  /// The options with which the phone was started.
  package var start = PhoneStart()

  /// Creates settings.
  package init(
    app: AppConfiguration, calibration: Calibration = .unknownModel, statistics: URL? = nil
  ) {
    self.app = app
    self.calibration = calibration
    self.statistics = statistics
  }

  /// The version of the framework's interface.
  var apiVersion: Int { app.windowRisk == nil ? 1 : 2 }

  /// The region without keys: they come in documents that the root key has signed.
  var region: RegionConfiguration { RegionConfiguration(region: app.region, keys: []) }
}

/// The folder of a running phone was moved, removed or replaced, so the phone has stopped.
package struct PhoneFolderReplaced: Error, Hashable, CustomStringConvertible {
  /// The path of the folder.
  package let path: String

  package var description: String {
    "The folder \(path) was moved or replaced while the phone ran, so it has stopped: start the phone again on the"
      + " folder that it should use."
  }
}

/// Limits of a running phone.
package enum PhoneLimit {
  /// The time that a starting phone waits for its radio, in seconds.
  package static let radioSeconds: TimeInterval = 5
  /// Polling interval for the folder and the socket's file, in seconds; shorter than the timeout of a command.
  package static let socketWatchSeconds: TimeInterval = 3
}

/// The radio of a phone without Bluetooth: it sends and receives nothing.
package struct NoRadio: Radio {
  package let isPoweredOn: Bool

  /// Creates a radio that is always on or always off.
  package init(isPoweredOn: Bool) {
    self.isPoweredOn = isPoweredOn
  }

  package func advertise(_ advertisement: Advertisement) async {}

  package func stopAdvertising() async {}

  package func listen(_ receive: @escaping @Sendable (Scan) async -> Void) async {}

  package func stopListening() async {}
}

/// A scheduler without effect: the phone runs its checks in `run()`.
private struct NoScheduler: BackgroundScheduler {
  func schedule(_ request: BackgroundRequest) {}
}

/// The attestation of a device without hardware attestation: a random token.
///
/// Servers do not ask for one from platforms without attestation (`deviceVerificationPlatforms`).
private struct UnattestedDevice: DeviceAttestation {
  private static let byteCount = 32

  let randomness: any Randomness

  func token() async throws -> Data { Data(randomness.bytes(Self.byteCount)) }
}
