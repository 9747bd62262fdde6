// SPDX-License-Identifier: Apache-2.0
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
    let server: Server
    let clock: SimulatedClock
    let user: User
    let radio: RecordingRadio
    var isNetworkDead = false
    var isKilledAfterPost = false
    var isAppInForeground = true
  }

  /// The health authority of a phone.
  enum Server {
    /// A folder, in place of servers.
    case folder(URL)
    /// Firebreak's servers, and the region configuration with their key.
    case firebreak(FirebreakServers.Addresses, regionFile: URL)
  }

  let device: Device
  let app: ExampleApp
  let screen: PhoneScreen
  /// If true, no network request gets a response.
  let isNetworkDead: Bool

  /// Starts the phone and installs it for Apple's classes.
  init(_ setting: Setting) throws {
    let (folder, clock) = (setting.folder, setting.clock)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    isNetworkDead = setting.isNetworkDead
    let key = try PhoneKey.sealingKey(in: folder)
    let (authority, regionFile) = try Self.connect(setting)
    device = Device(
      radio: setting.radio, consent: setting.user, clock: clock,
      randomness: SystemRandomness(), folder: folder.appendingPathComponent("device"),
      sealingKey: key,
      region: try RegionConfiguration(contentsOf: regionFile),
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
    app = ExampleApp(storage: storage, authority: authority, now: { clock.now })
  }

  private static func connect(
    _ setting: Setting
  ) throws -> (authority: HealthAuthority, regionFile: URL) {
    switch setting.server {
    case .folder(let folder):
      let server = try LocalServer(in: folder) { setting.clock.now }
      let connection = ServerConnection(
        to: server, isDead: setting.isNetworkDead, isKilledAfterPost: setting.isKilledAfterPost)
      return (connection, AuthorityKey.regionFile(in: folder))
    case .firebreak(let addresses, let regionFile):
      return (FirebreakServers(at: addresses), regionFile)
    }
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
