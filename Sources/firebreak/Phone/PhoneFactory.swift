import ArgumentParser
import Bluetooth
import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import Logging
import PhoneProcess
import SealedStorage
import Terminal
import World

/// Opens a phone with the options of the command line, its configuration and the environment.
struct PhoneFactory {
  /// The name of the systemd credential that contains the sealing key.
  static let credentialName = "sealing-key"

  let options: PhoneOptions
  let environment: [String: String]

  init(_ options: PhoneOptions, environment: [String: String] = ProcessInfo.processInfo.environment)
  {
    self.options = options
    self.environment = environment
  }

  /// A network, which the caller shuts down. A developer's phone waits longer for servers of the same machine.
  func network() -> HTTPNetwork {
    HTTPNetwork(
      ownMachineTimeoutSeconds: options.developer ? NetworkLimit.ownMachineTimeoutSeconds : nil)
  }

  /// The folder, which is created if the key may be created as well.
  func folder() throws -> PhoneFolder {
    try Self.reporting {
      options.createKey == nil
        ? try PhoneFolder(existing: options.data) : try PhoneFolder(creating: options.data)
    }
  }

  /// Opens the phone; the caller holds the lock of `folder`.
  ///
  /// - Parameters:
  ///   - isRunning: True for `phone run`. A command that performs one operation uses no radio.
  ///   - network: The network, which the caller shuts down.
  func phone(
    in folder: PhoneFolder, isRunning: Bool, network: any Network
  ) throws -> Phone {
    let path = options.config ?? folder.url.appendingPathComponent("config.json").path
    let configuration = try PhoneConfigurationFile(at: path)
    var settings = try configuration.settings
    let sealingKey = try Self.reporting {
      try key(for: folder, configured: configuration.keyFile)
    }
    try requireMatch(of: sealingKey, in: folder)
    settings.start = options.start
    settings.start.configuration = PhoneStart.path(path)
    let (radioChanges, radioChange) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let clock = try DeveloperOptions.clock(offset: options.clockOffset, file: options.clockFile)
    let controller =
      isRunning ? controller(configuration, clock: clock) { radioChange.yield() } : nil
    return Phone(
      in: folder, key: sealingKey, settings: settings,
      surroundings: Phone.Surroundings(
        clock: clock, randomness: SystemRandomness(), network: network,
        radio: radio(controller, clock: clock, isRunning: isRunning),
        runRadio: { await controller?.run() },
        radioChanges: controller.map { _ in radioChanges }, desktop: desktop,
        version: Firebreak.configuration.version, language: Language(environment: environment),
        logger: logger))
  }

  /// Rejects a wrong key before anything in the folder is changed.
  private func requireMatch(of key: SealingKey, in folder: PhoneFolder) throws {
    let isMatch: Bool
    do throws(SealedStorageError) {
      isMatch = try Device.keyMatches(
        folder: folder.framework, sealingKey: key, randomness: SystemRandomness())
    } catch {
      throw CommandFailure.badInput(
        "The phone's data cannot be read: \(error)".printable)
    }
    guard isMatch else {
      throw CommandFailure.badInput(
        "The sealing key does not belong to this folder: name the right key file.")
    }
  }

  private func key(
    for folder: PhoneFolder, configured: String?
  ) throws -> SealingKey {
    if let path = options.createKey {
      let file = SealingKeyFile(at: path)
      try file.create(for: folder, randomness: SystemRandomness())
      return try file.read(for: folder)
    }
    if let path = options.keyFile { return try SealingKeyFile(at: path).read(for: folder) }
    if let credentials = environment["CREDENTIALS_DIRECTORY"] {
      let path = credentials + "/" + Self.credentialName
      if FileManager.default.fileExists(atPath: path) {
        return try SealingKeyFile(at: path, origin: .credential).read(for: folder)
      }
    }
    guard let configured else { throw PhoneSetupError.noSealingKey }
    return try SealingKeyFile(at: configured).read(for: folder)
  }

  /// The Bluetooth controller; `nil` for a phone without one.
  ///
  /// - Parameter changed: Called when the controller is ready, and when it has failed.
  private func controller(
    _ configuration: PhoneConfigurationFile, clock: any WallClock,
    changed: @escaping @Sendable () -> Void
  ) -> HCIRadio? {
    let configured = configuration.radio.flatMap { try? PhoneRadio($0) }
    guard case .controller(let address) = options.radio ?? configured else { return nil }
    let logger = logger
    return HCIRadio(address, clock: clock, machine: SystemClock()) { event in
      switch event {
      case .failed:
        logger.warning("the radio \(address): \(event)")
        changed()
      case .ready:
        logger.info("\(event)")
        changed()
      case .advertising, .discarded, .scanDiscarded: logger.info("\(event)")
      }
    }
  }

  private func radio(
    _ controller: HCIRadio?, clock: any WallClock, isRunning: Bool
  ) -> any Radio {
    if options.developer { return DeveloperRadio(controller, clock: clock) }
    // Without a running phone the state of Bluetooth is unknown, so it is not reported as off.
    return controller ?? NoRadio(isPoweredOn: !isRunning)
  }

  /// The notification service of the owner's desktop session, if there is one.
  private var desktop: DesktopNotifications? {
    let text =
      environment["DBUS_SESSION_BUS_ADDRESS"]
      ?? environment["XDG_RUNTIME_DIR"].map { "unix:path=\($0)/bus" }
    return text.flatMap(DBusAddress.init).map { DesktopNotifications(on: $0) }
  }

  var logger: Logger {
    let level: Logger.Level = options.verbose ? .debug : .notice
    return Logger(label: "firebreak.phone") { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
  }

  /// Runs `work` and turns an error of the setup into a `CommandFailure`.
  static func reporting<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch let error as PhoneSetupError {
      throw CommandFailure.badInput(error.description.printable)
    }
  }
}
