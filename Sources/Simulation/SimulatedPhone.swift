// SPDX-License-Identifier: Apache-2.0
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
  ///
  /// The framework has no verification keys of its own: the app passes on those of the device configuration.
  public init(
    name: String, folder: URL, world: SimulatedWorld, configuration: AppConfiguration,
    deviceCheck: any DeviceAttestation = SimulatedAttestation { Data(count: 32) },
    network: any Network, notices: SimulatedNotices = SimulatedNotices()
  ) {
    self.name = name
    self.folder = folder
    let randomness = world.randomness.source("phone \(name)")
    let sealingKey = SealingKey(from: randomness)
    radio = SimulatedRadio(name: name, air: world.air)
    user = SimulatedUser()
    self.notices = notices
    scheduler = SimulatedScheduler()
    let device = Device(
      radio: radio, consent: user, clock: world.clock, randomness: randomness,
      folder: folder.appendingPathComponent("framework"), sealingKey: sealingKey,
      region: RegionConfiguration(region: configuration.region, keys: []),
      bundleIdentifier: configuration.appPackageName,
      apiVersion: configuration.windowRisk == nil ? 1 : 2,
      entitlements: [.exposureNotification, .test], calibration: AirModel.calibration,
      logger: world.logger)
    self.device = device
    app = ExposureApp(
      manager: ENManager(device: device), authorizationStatus: { device.authorizationStatus },
      configuration: configuration, folder: folder.appendingPathComponent("app"),
      sealingKey: sealingKey, clock: world.clock, randomness: randomness, network: network,
      scheduler: scheduler, notices: notices, deviceCheck: deviceCheck, trust: device,
      inspect: { file in
        let summary = try UnverifiedKeyFile(at: file).inspect()
        guard !summary.signatures.isEmpty else { throw KeyFileError.unsigned }
        return KeyFileFacts(
          start: summary.header.start, end: summary.header.end, region: summary.header.region,
          keyCount: summary.keyCount)
      },
      damage: { device.storageDamage.map { DataDamage($0) } }, logger: world.logger)
  }

  /// Switches exposure notifications on, with the consent of the user.
  ///
  /// - Returns: The outcome, which only a fault of the disk makes another than `enabled`.
  /// - Throws: The error of the app if the end of the onboarding cannot be stored.
  public func enable() async throws -> EnableOutcome {
    await app.start()
    let outcome = await app.enable()
    if outcome == .enabled { try await app.finishOnboarding() }
    return outcome
  }

  /// Runs the background check that the app has scheduled, if it is due at `now`.
  ///
  /// - Returns: The outcome; `nil` if no check is due.
  func checkForKeys(dueAt now: Date) async -> CheckOutcome? {
    guard scheduler.takeRequest(dueAt: now) != nil else { return nil }
    return await app.backgroundCheck(SimulatedRun())
  }
}

/// A phone could not be switched on.
public struct PhoneNotEnabled: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the person.
  public let name: String
  /// The outcome, or the error of the app, with what to do if that is known.
  public let reason: String

  public var description: String {
    // The errors of the app are sentences.
    let end = reason.hasSuffix(".") ? "" : "."
    return "The phone of \(name) could not be switched on: \(reason)\(end)"
  }

  package init(name: String, outcome: EnableOutcome) {
    self.name = name
    reason = outcome == .diskFull ? "free disk space" : "the outcome is \(outcome.rawValue)"
  }

  package init(name: String, error: any Error) {
    self.name = name
    reason = "\(error)"
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

/// A background run that does not expire.
public final class SimulatedRun: BackgroundRun {
  private let result = Mutex<Bool?>(nil)

  /// Creates a run.
  public init() {}

  /// The reported result; `nil` if the run has not ended.
  public var success: Bool? { result.withLock { $0 } }

  public func setExpirationHandler(_ handler: @escaping @Sendable () -> Void) {}

  public func complete(success: Bool) { result.withLock { $0 = $0 ?? success } }
}

/// The background requests of one phone's app.
public final class SimulatedScheduler: BackgroundScheduler {
  private let requests = Mutex<[String: BackgroundRequest]>([:])

  /// Creates a scheduler without requests.
  public init() {}

  public func schedule(_ request: BackgroundRequest) throws {
    requests.withLock { $0[request.identifier] = request }
  }

  /// Removes and returns the earliest pending request, if it is due at `now`.
  public func takeRequest(dueAt now: Date = .distantFuture) -> BackgroundRequest? {
    requests.withLock { requests in
      guard let next = requests.values.min(by: { $0.earliest < $1.earliest }), next.earliest <= now
      else { return nil }
      return requests.removeValue(forKey: next.identifier)
    }
  }

  /// True if a request is pending.
  public var hasRequest: Bool { requests.withLock { !$0.isEmpty } }
}

/// The notices that one phone has shown.
public final class SimulatedNotices: NoticeSink {
  private struct State {
    var shown: [Notice] = []
    var visible: Set<Notice.Identifier> = []
  }

  private let state = Mutex(State())
  private let lost: Set<Notice.Identifier>

  /// Creates an empty list.
  ///
  /// - Parameter lost: The kinds of notices that the system of the phone loses.
  public init(losing lost: Set<Notice.Identifier> = []) {
    self.lost = lost
  }

  /// All notices ever shown, oldest first.
  public var shown: [Notice] { state.withLock { $0.shown } }

  /// The risk notices among them.
  public var exposureNotices: [Notice] { shown.filter { $0.identifier == .risk } }

  /// True if a notice of this kind is shown now.
  public func isVisible(_ identifier: Notice.Identifier) -> Bool {
    state.withLock { $0.visible.contains(identifier) }
  }

  public func show(_ notice: Notice) async {
    guard !lost.contains(notice.identifier) else { return }
    state.withLock { state in
      state.shown.append(notice)
      state.visible.insert(notice.identifier)
    }
  }

  public func remove(_ identifier: Notice.Identifier) async {
    _ = state.withLock { $0.visible.remove(identifier) }
  }
}
