// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Bluetooth
import DesktopNotifications
import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import Logging
import PhoneProcess
import SealedStorage
import Settings
import Terminal
import Town
import World

/// `firebreak phone`: one phone as a process, and the commands of its owner.
struct PhoneCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "phone",
    abstract: "Run a phone as a process, and talk to it.",
    discussion: """
      `run` runs the framework, the app and its checks until Ctrl-C or SIGTERM. The other commands ask the running \
      phone through the socket DIR/phone.socket; without a running phone they open its storage themselves. \
      Documentation/Phone.md explains the configuration, the sealing key and systemd.
      """,
    subcommands: [
      PhoneRunCommand.self, PhoneStatusCommand.self, PhoneCheckCommand.self,
      PhoneEnableCommand.self, PhoneDisableCommand.self, PhoneHistoryCommand.self,
      PhoneExposuresCommand.self, PhoneUploadCommand.self,
      PhoneFollowingDaysCommand.self, PhoneTravelCommand.self,
      PhoneRemoveCommand.self, PhoneStartOverCommand.self, PhoneExportCommand.self,
      PhoneMoveCommand.self,
      PhoneHearCommand.self, PhoneSentCommand.self,
    ])

  @OptionGroup var options: PhoneOptions
}

/// The options of all `phone` commands, before or after the name of the command.
struct PhoneOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The folder of the phone.", valueName: "dir"))
  var data = DefaultPhone.folder

  @Option(
    help: ArgumentHelp("The configuration, JSON; by default DIR/config.json.", valueName: "file"))
  var config: String?

  @Option(
    help: ArgumentHelp("The file of the sealing key, outside DIR.", valueName: "path"))
  var keyFile: String?

  @Option(
    help: ArgumentHelp(
      "The same; on the first start the key is generated there.", valueName: "path"))
  var createKey: String?

  @Option(
    help: ArgumentHelp(
      "The radio, instead of that of the configuration.", valueName: "none|hci:host:port"),
    transform: { try PhoneRadio($0) })
  var radio: PhoneRadio?

  @Flag(help: "Allow the commands and options for developers.")
  var developer = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Run ahead of the machine's clock, or behind it. For developers.", valueName: "seconds"))
  var clockOffset = 0

  @Option(
    help: ArgumentHelp(
      "Follow the clock of a rehearsal. For developers.", valueName: "path"))
  var clockFile: String?

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Log everything to stderr, not only errors and notices.")
  var verbose = false

  /// The options that must equal those of a running phone.
  var start: PhoneStart {
    var start = PhoneStart()
    start.clockOffset = clockOffset
    start.configuration = config.map(PhoneStart.path)
    start.keyFile = (keyFile ?? createKey).map(PhoneStart.path)
    return start
  }

  func validate() throws {
    guard keyFile == nil || createKey == nil else {
      throw ValidationError("Give either --key-file or --create-key, not both.")
    }
    try DeveloperOptions.check(
      clockOffset: clockOffset, clockFile: clockFile, developer: developer)
  }
}

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
  func folder(isRunning: Bool = false) throws -> PhoneFolder {
    let createsKey = options.createKey != nil || isRunning && DefaultPhone(options) != nil
    return try Self.reporting {
      guard createsKey else { return try PhoneFolder(existing: options.data) }
      // A configuration that is not valid leaves no folder.
      if DefaultPhone(options) == nil, !FileManager.default.fileExists(atPath: options.data) {
        _ = try configuration()
      }
      return try PhoneFolder(creating: options.data)
    }
  }

  private var configurationPath: String {
    options.config ?? URL(fileURLWithPath: options.data).appendingPathComponent("config.json").path
  }

  private func configuration() throws -> PhoneConfigurationFile {
    let path = configurationPath
    if let phone = DefaultPhone(options), !FileManager.default.fileExists(atPath: path) {
      return try phone.configuration()
    }
    return try PhoneConfigurationFile(at: path)
  }

  /// Opens the phone; the caller holds the lock of `folder`.
  ///
  /// - Parameters:
  ///   - isRunning: True for `phone run`. A command that performs one operation uses no radio.
  ///   - network: The network, which the caller shuts down.
  func phone(
    in folder: PhoneFolder, isRunning: Bool, network: any Network
  ) throws -> Phone {
    let configuration = try configuration()
    var settings = try configuration.settings
    let sealingKey = try Self.reporting {
      try key(for: folder, configured: configuration.keyFile, isRunning: isRunning)
    }
    try requireMatch(of: sealingKey.key, from: sealingKey.file, in: folder)
    settings.start = options.start
    settings.start.configuration = PhoneStart.path(configurationPath)
    let (radioChanges, radioChange) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let clock = try DeveloperOptions.clock(offset: options.clockOffset, file: options.clockFile)
    let controller =
      isRunning ? controller(configuration, clock: clock) { radioChange.yield() } : nil
    return Phone(
      in: folder, key: sealingKey.key, settings: settings,
      surroundings: Phone.Surroundings(
        clock: clock, randomness: SystemRandomness(), network: network,
        radio: radio(controller, clock: clock, isRunning: isRunning),
        runRadio: { await controller?.run() },
        radioChanges: controller.map { _ in radioChanges }, desktop: desktop,
        version: ProductVersion.number, language: Language(environment: environment),
        zone: .autoupdatingCurrent, logger: logger))
  }

  /// Rejects a wrong key before anything in the folder is changed.
  private func requireMatch(
    of key: SealingKey, from file: SealingKeyFile, in folder: PhoneFolder
  ) throws {
    let isMatch: Bool
    do throws(SealedStorageError) {
      isMatch = try Device.keyMatches(
        folder: folder.framework, sealingKey: key, randomness: SystemRandomness())
    } catch {
      throw CommandFailure.badInput(
        "The phone's data in \(folder.url.path) cannot be read: \(error)".printable)
    }
    guard isMatch else {
      throw CommandFailure.badInput(
        "The sealing key \(file.path.printable) does not belong to \(folder.url.path.printable): name the"
          + " right key file.")
    }
  }

  /// The sealing key and its file.
  private func key(
    for folder: PhoneFolder, configured: String?, isRunning: Bool
  ) throws -> (key: SealingKey, file: SealingKeyFile) {
    let file = try keyFile(configured: configured)
    let creates = options.createKey != nil || isRunning && file.path == DefaultPhone.keyFile
    if creates { try file.create(for: folder, randomness: SystemRandomness()) }
    return (try file.read(for: folder), file)
  }

  private func keyFile(configured: String?) throws -> SealingKeyFile {
    if let path = options.createKey ?? options.keyFile { return SealingKeyFile(at: path) }
    if let credentials = environment["CREDENTIALS_DIRECTORY"] {
      let path = credentials + "/" + Self.credentialName
      if FileManager.default.fileExists(atPath: path) {
        return SealingKeyFile(at: path, origin: .credential)
      }
    }
    guard let path = configured ?? DefaultPhone(options)?.keyFile else {
      throw PhoneSetupError.noSealingKey
    }
    return SealingKeyFile(at: path)
  }

  /// The Bluetooth controller; `nil` for a phone without one.
  ///
  /// - Parameter changed: Called when the controller is ready, and when it has failed.
  private func controller(
    _ configuration: PhoneConfigurationFile, clock: any WallClock,
    changed: @escaping @Sendable () -> Void
  ) -> HCIRadio? {
    // The configuration was checked when it was read.
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

/// The options for developers of `phone` and `serve`.
enum DeveloperOptions {
  /// - Throws: `ValidationError` if the options exclude each other, the offset is too large, or `--developer` is
  ///   missing.
  static func check(clockOffset: Int, clockFile: String?, developer: Bool) throws {
    guard clockOffset == 0 && clockFile == nil || developer else {
      let option = clockFile == nil ? "--clock-offset" : "--clock-file"
      throw ValidationError("\(option) is for developers: add --developer.")
    }
    guard clockOffset == 0 || clockFile == nil else {
      throw ValidationError("Give either --clock-offset or --clock-file, not both.")
    }
    let offsets = ClockWithOffset.offsets
    guard offsets.contains(clockOffset) else {
      throw ValidationError(
        "--clock-offset takes \(offsets.lowerBound) to \(offsets.upperBound) seconds.")
    }
  }

  /// The clock of these options: the machine's, an offset of it, or that of a rehearsal.
  ///
  /// - Throws: `CommandFailure` if the file is not that of a clock.
  static func clock(offset: Int, file: String?) throws(CommandFailure) -> any WallClock {
    guard let file else {
      return offset == 0 ? SystemClock() : ClockWithOffset(SystemClock(), ahead: offset)
    }
    do throws(RehearsalClockError) {
      return SimulatedClock(following: try RehearsalTime(file: URL(fileURLWithPath: file)))
    } catch {
      throw .badInput(error.description.printable)
    }
  }
}
