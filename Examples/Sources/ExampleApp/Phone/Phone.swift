import App
import BackgroundTasks
import ExposureKeys
import ExposureNotification
import Foundation
import SealedStorage
import UserNotifications
import World

/// A simulated phone in a folder, in place of Apple's system.
///
/// Each process is one launch of the phone; a later process with the same folder continues it.
final class Phone {
  /// The parameters of a launch.
  struct Setting {
    let folder: URL
    let server: URL
    let clock: SimulatedClock
    let user: User
    let radio: RecordingRadio
    var isNetworkDead = false
    var isKilledAfterPost = false
    var isAppInForeground = true
  }

  let device: Device
  let app: ExampleApp
  let screen: PhoneScreen
  let server: LocalServer
  /// If true, no network request gets a response.
  let isNetworkDead: Bool

  /// Starts the phone and installs it for Apple's classes.
  init(_ setting: Setting) throws {
    let (folder, clock) = (setting.folder, setting.clock)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    isNetworkDead = setting.isNetworkDead
    let key = try PhoneKey.sealingKey(in: folder)
    server = try LocalServer(in: setting.server) { clock.now }
    device = Device(
      radio: setting.radio, consent: setting.user, clock: clock,
      randomness: SystemRandomness(), folder: folder.appendingPathComponent("device"),
      sealingKey: key,
      region: try RegionConfiguration(contentsOf: AuthorityKey.regionFile(in: setting.server)),
      bundleIdentifier: ExampleApp.bundleIdentifier,
      entitlements: [.exposureNotification, .test],
      calibration: Calibration(transmitPower: RecordingRadio.transmitPower))
    Device.install(device)
    let storage = SealedValues(
      in: folder.appendingPathComponent("app"), key: key)
    screen = PhoneScreen(
      clock: clock, user: setting.user, storage: storage,
      isAppInForeground: setting.isAppInForeground)
    UNUserNotificationCenter.current().install(screen)
    BGTaskScheduler.shared.install(
      BackgroundTaskList(), permittedIdentifiers: [BackgroundCheck.taskIdentifier])
    app = ExampleApp(
      storage: storage,
      authority: ServerConnection(
        to: server, isDead: setting.isNetworkDead, isKilledAfterPost: setting.isKilledAfterPost),
      now: { clock.now })
  }

  func launch() async throws {
    try await Handler.wait(for: { self.app.launch(completion: $0) })
  }
}

/// The key that encrypts the phone's data; a real phone keeps it in its keychain.
enum PhoneKey {
  static func sealingKey(in folder: URL) throws -> SealingKey {
    let file = folder.appendingPathComponent("sealing-key")
    if let stored = try? Data(contentsOf: file), let key = SealingKey(bytes: stored) { return key }
    let bytes = SystemRandomness().bytes(SealingKey.byteCount)
    try PrivateFile.write(Data(bytes), to: file)
    guard let key = SealingKey(bytes: bytes) else { throw CocoaError(.fileWriteUnknown) }
    return key
  }
}

/// The phone's background tasks. The command `background` runs them.
struct BackgroundTaskList: BackgroundTaskSink {
  func pendingTasksChanged(_ pending: [PendingBackgroundTask]) {}
}

/// Async access to completion handlers.
enum Handler {
  /// Waits until the handler is called, and throws its error.
  @MainActor
  static func wait(for call: (@escaping (Error?) -> Void) -> Void) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, Error>) in
      call { error in
        if let error { done.resume(throwing: error) } else { done.resume() }
      }
    }
  }
}
