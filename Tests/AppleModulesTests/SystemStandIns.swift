// SPDX-License-Identifier: Apache-2.0
import BackgroundTasks
import DeviceCheck
import ExposureKeys
import ExposureNotification
import Foundation
import SealedStorage
import Synchronization
import TestSupport
import UserNotifications
import World

/// The screen of the process: it allows everything that the app asks for and records what is shown.
final class TestScreen: UserNotificationSink {
  private struct State {
    var allowed: UNAuthorizationOptions?
    var isAppInForeground = false
    var shown: [UserNotice] = []
    var badges: [Int] = []
  }

  static let installed: TestScreen = {
    let screen = TestScreen()
    UNUserNotificationCenter.current().install(screen)
    return screen
  }()

  private let state = Mutex(State())

  var now: Date { Date() }
  var allowedOptions: UNAuthorizationOptions? { state.withLock(\.allowed) }
  var shown: [UserNotice] { state.withLock(\.shown) }
  var badges: [Int] { state.withLock(\.badges) }

  var isAppInForeground: Bool {
    get { state.withLock(\.isAppInForeground) }
    set { state.withLock { $0.isAppInForeground = newValue } }
  }

  func ask(for options: UNAuthorizationOptions) async -> UNAuthorizationOptions {
    state.withLock { $0.allowed = options }
    return options
  }

  func show(_ notice: UserNotice, with options: UNNotificationPresentationOptions) {
    state.withLock { $0.shown.append(notice) }
  }

  func remove(_ identifiers: [String]) {
    state.withLock { state in
      state.shown.removeAll { identifiers.contains($0.identifier) }
    }
  }

  func pendingNoticesChanged(_ pending: [UserNotice]) {}

  func setBadge(_ count: Int) {
    state.withLock { $0.badges.append(count) }
  }
}

/// Tasks that wait for a call of `BGTaskScheduler.launch(_:)`.
struct TaskList: BackgroundTaskSink {
  func pendingTasksChanged(_ pending: [PendingBackgroundTask]) {}
}

/// A source of one token and one key.
struct TestAttestation: DeviceTokenSource, AppAttestSource {
  func token() async throws -> Data { Data([1, 2, 3]) }
  func generateKey() async throws -> String { "key" }

  func attestation(of keyIdentifier: String, clientDataHash: Data) async throws -> Data {
    clientDataHash + Data([1])
  }

  func assertion(of keyIdentifier: String, clientDataHash: Data) async throws -> Data {
    clientDataHash + Data([2])
  }
}

/// A phone whose user agrees to everything and has traveled.
final class TestDevice {
  private struct Agreeing: ConsentPrompt {
    func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool { true }
  }

  private struct SilentRadio: Radio {
    var isPoweredOn: Bool { true }
    func advertise(_ advertisement: Advertisement) async {}
    func stopAdvertising() async {}
    func listen(_ receive: @escaping @Sendable (Scan) async -> Void) async {}
    func stopListening() async {}
  }

  private struct Traveler: TravelHistory {
    @concurrent
    func hasLeft(_ region: String, since date: Date) async throws -> Bool? { true }
  }

  let device: Device
  private let folder: TemporaryFolder

  init(hasTraveled: Bool = true) throws {
    folder = try TemporaryFolder()
    let randomness = TestRandomness(seed: 1)
    device = Device(
      radio: SilentRadio(), consent: Agreeing(),
      clock: ManualClock(Date(timeIntervalSince1970: 1_592_222_400)), randomness: randomness,
      folder: folder.url, sealingKey: SealingKey(from: randomness),
      region: RegionConfiguration(region: "PL", keys: []), bundleIdentifier: "org.example.app",
      travel: hasTraveled ? Traveler() : nil, logger: CollectedLog().logger)
  }

  /// A manager, not activated yet.
  func manager() -> ENManager {
    let manager = ENManager(device: device)
    manager.dispatchQueue = DispatchQueue(label: "app")
    return manager
  }
}
