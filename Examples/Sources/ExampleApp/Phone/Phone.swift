import App
import BackgroundTasks
import ExposureNotification
import Foundation
import SealedStorage
import UserNotifications
import World

/// The phone below the app, in a folder: everything that Apple's system is otherwise.
///
/// One process is one phone for as long as it runs; the next process with the same folder is the
/// same phone, later.
final class Phone {
  /// What a phone is started with.
  struct Setting {
    let folder: URL
    let server: URL
    let clock: JumpingClock
    let person: Person
    let radio: TapeRadio
    var isNetworkDead = false
    var isAppInForeground = true
  }

  let device: Device
  let app: ExampleApp
  let screen: PhoneScreen
  let server: LocalServer
  /// Whether its network takes everything and never answers.
  let isNetworkDead: Bool

  /// Starts the phone and installs it below Apple's names.
  init(_ setting: Setting) throws {
    let (folder, clock) = (setting.folder, setting.clock)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    isNetworkDead = setting.isNetworkDead
    let key = try PhoneKey.sealingKey(in: folder)
    server = try LocalServer(in: setting.server) { clock.now }
    device = Device(
      radio: setting.radio, consent: setting.person, clock: clock,
      randomness: SystemRandomness(), folder: folder.appendingPathComponent("device"),
      sealingKey: key,
      region: try RegionConfiguration(contentsOf: AuthorityKey.regionFile(in: setting.server)),
      bundleIdentifier: ExampleApp.bundleIdentifier,
      entitlements: [.exposureNotification, .test])
    Device.install(device)
    let storage = SealedValues(
      in: folder.appendingPathComponent("app"), key: key)
    screen = PhoneScreen(
      clock: clock, person: setting.person, storage: storage,
      isAppInForeground: setting.isAppInForeground)
    UNUserNotificationCenter.current().install(screen)
    BGTaskScheduler.shared.install(
      TaskList(), permittedIdentifiers: [BackgroundCheck.taskIdentifier])
    app = ExampleApp(
      storage: storage,
      authority: ServerConnection(to: server, isDead: setting.isNetworkDead),
      now: { clock.now })
  }

  /// Starts the app.
  func launch() async throws {
    try await Later.wait(for: { self.app.launch(completion: $0) })
  }
}
