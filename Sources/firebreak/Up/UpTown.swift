// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureKeys
import Foundation
import HealthAuthorityConsole
import Logging
import PhoneProcess
import ServerOperations
import Simulation
import Subprocess
import SystemPackage
import Terminal
import TextEncodings
import Town
import UnixSockets
import World

/// All parts of a running town: clock, controllers, servers, phones and the page.
struct UpTown: Sendable {
  let folder: UpFolder
  let ports: UpPorts
  let names: [String]
  /// The first time of a new clock.
  let start: Date
  let logger: Logger

  private struct Stopped: Error {}

  /// Runs until SIGINT or SIGTERM, or until a part fails.
  ///
  /// - Parameter ready: Called with the addresses when everything runs.
  /// - Throws: `CommandFailure`, `RehearsalClockError` or `PageServerError`.
  func run(ready: @escaping @Sendable (UpAddresses) throws -> Void) async throws {
    let clock = try RehearsalClockFile(at: folder.clock, startingAt: start)
    let air = SimulatedAir<ControllerBeacon>(
      randomness: SystemRandomness(), calibration: .unknownModel, records: false)
    let received = ReceptionLog { clock.now }
    let controllers = try await ControllerServer(for: names, on: air, noting: received)
    let (stops, stop) = AsyncStream.makeStream(of: Void.self)
    let signals = SignalHandler { _ in stop.finish() }
    defer { withExtendedLifetime(signals) {} }
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        defer { group.cancelAll() }
        group.addTask { try await clock.run() }
        group.addTask { try await controllers.run() }
        group.addTask {
          for await _ in stops {}
          throw Stopped()
        }
        group.addTask {
          try await self.runProcesses(
            clock, air, received, radios: controllers.addresses, ready: ready)
        }
        try await group.next()
      }
    } catch is Stopped {
      // Cancelled by SIGINT or SIGTERM.
    }
  }

  private func runProcesses(
    _ clock: RehearsalClockFile, _ air: SimulatedAir<ControllerBeacon>, _ received: ReceptionLog,
    radios: [String: String], ready: @escaping @Sendable (UpAddresses) throws -> Void
  ) async throws {
    let network = HTTPNetwork(ownMachineTimeoutSeconds: NetworkLimit.ownMachineTimeoutSeconds)
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        defer { group.cancelAll() }
        let servers = try servers(try await Self.line(of: serversChild, in: &group))
        let residents = try await phones(servers, radios: radios, in: &group)
        let town = LiveTown(
          of: residents, on: air, noting: received, clock: clock,
          official: try official(servers.verification, network), people: folder.people,
          links: servers.links, randomness: SystemRandomness())
        let site = try TownSite(
          of: town, port: ports.first, randomness: SystemRandomness(), logger: logger)
        group.addTask { await town.run() }
        // Created last, because its credentials are printed once, with the addresses.
        let account = try await firstAccount()
        group.addTask {
          try await site.run { address in
            try ready(
              servers.addresses(
                town: address, residents: residents, account: account))
          }
        }
        try await group.next()
      }
    } catch {
      await network.shutdown()
      throw error
    }
    await network.shutdown()
  }

  // MARK: Servers

  /// The first line of `serve`.
  private struct Servers: Decodable {
    let verification: String
    let keys: String
    let console: String?

    var links: [String: String] {
      ["verification": verification, "keys": keys, "console": console].compactMapValues(\.self)
    }

    func addresses(
      town: String, residents: [Resident], account: UpAddresses.Account?
    ) -> UpAddresses {
      UpAddresses(
        town: town, verification: verification, keys: keys, console: console, account: account,
        phones: residents.map { UpAddresses.Phone(name: $0.name, web: $0.web) })
    }
  }

  private var serversChild: UpChild {
    UpChild(
      name: "The health authority's servers",
      arguments: [
        "serve", "--data", folder.servers.path, "--port", "\(ports.servers)", "--json",
        "--developer", "--clock-file", folder.clock.path, "--until-end-of-input",
      ], log: folder.log(of: "servers"))
  }

  private var setup: ServerSetup {
    get throws {
      ServerSetup(folder: try ServerFolder(path: folder.servers.path)) { note($0) }
    }
  }

  /// The account of the console that the first start creates; `nil` at later starts.
  private func firstAccount() async throws -> UpAddresses.Account? {
    try await setup.withConsole(isNew: true) { console in
      guard try await !console.hasAccounts else { return nil }
      return UpAddresses.Account(
        try await console.addAccount(name: "admin", role: .administrator))
    }
  }

  private func servers(_ line: String) throws -> Servers {
    guard let servers = JSONDecoder().decodeIfValid(Servers.self, from: Data(line.utf8)) else {
      throw CommandFailure.machineFailed(
        "The servers did not report their addresses: look into \(serversChild.log.path)"
          .printable)
    }
    return servers
  }

  private func official(_ server: String, _ network: HTTPNetwork) throws -> HealthOfficial {
    guard let url = URL(string: server),
      let token = try setup.apiTokens()?.first
    else {
      throw CommandFailure.machineFailed("The servers have no API token: start over with --fresh.")
    }
    return HealthOfficial(server: url, apiToken: token, network: network)
  }

  // MARK: Phones

  /// Starts all phones and waits until they run. Each phone is turned on once, with the consent of the user who started
  /// the town.
  private func phones(
    _ servers: Servers, radios: [String: String], in group: inout ThrowingTaskGroup<Void, any Error>
  ) async throws -> [Resident] {
    struct Ready: Decodable {
      let web: String
    }
    var lines: [(name: String, line: AsyncThrowingStream<String, any Error>)] = []
    for (index, name) in names.enumerated() {
      try folder.configure(name, verification: servers.verification, keys: servers.keys)
      let child = phoneChild(name, port: ports.phone(index), radio: radios[name] ?? "none")
      lines.append((name, Self.start(child, in: &group)))
    }
    var residents: [Resident] = []
    for (name, line) in lines {
      let text = try await Self.first(of: line)
      guard let ready = JSONDecoder().decodeIfValid(Ready.self, from: Data(text.utf8)) else {
        throw failure(of: name, "did not report its address")
      }
      residents.append(Resident(name: name, folder: folder.phone(name), web: ready.web))
      if !folder.wasTurnedOn(name) { try await turnOn(name) }
    }
    return residents
  }

  /// Turns exposure notifications on, once per phone; a failure is not noted, so that the next start tries again.
  private func turnOn(_ name: String) async throws {
    let reply: PhoneReply?
    do {
      reply = try await PhoneSocket.ask(PhoneRequest(.enable), in: folder.phone(name))
    } catch is UnixSocketError {
      reply = nil
    } catch let error as PhoneSocketError {
      throw failure(of: name, "did not turn exposure notifications on", error.rawValue)
    }
    guard reply?.status == .done else {
      throw failure(of: name, "did not turn exposure notifications on", reply?.text)
    }
    try folder.noteTurnedOn(name)
  }

  /// The failure of a phone with its own reason, or with the place of its log.
  private func failure(
    of name: String, _ problem: String, _ reason: String? = nil
  ) -> CommandFailure {
    let reason = reason ?? "look into \(folder.log(of: name).path)"
    return CommandFailure.machineFailed(
      "\(name.capitalized)'s phone \(problem): \(reason)".printable)
  }

  private func phoneChild(_ name: String, port: Int, radio: String) -> UpChild {
    UpChild(
      name: "\(name.capitalized)'s phone",
      arguments: [
        "phone", "--data", folder.phone(name).path, "--config",
        folder.configuration(of: name).path, "--create-key", folder.key(of: name).path,
        "--developer", "--clock-file", folder.clock.path, "--radio", radio, "--json", "run",
        "--web", "\(port)", "--until-end-of-input",
      ], log: folder.log(of: name))
  }

  // MARK: Processes

  private static func line(
    of child: UpChild, in group: inout ThrowingTaskGroup<Void, any Error>
  ) async throws -> String {
    try await first(of: start(child, in: &group))
  }

  /// Starts a process; the stream yields its first line, or throws the error of the process.
  private static func start(
    _ child: UpChild, in group: inout ThrowingTaskGroup<Void, any Error>
  ) -> AsyncThrowingStream<String, any Error> {
    let (lines, line) = AsyncThrowingStream.makeStream(of: String.self)
    group.addTask {
      do {
        try await child.run { _ = line.yield($0) }
      } catch {
        line.finish(throwing: error)
        throw error
      }
    }
    return lines
  }

  private static func first(of lines: AsyncThrowingStream<String, any Error>) async throws -> String
  {
    for try await line in lines { return line }
    throw CancellationError()
  }
}

/// A process of a town: this program with other arguments.
///
/// The process ends when its stdin is closed: when `up` ends in any way, also if `up` is killed.
struct UpChild: Sendable {
  /// The name for messages, and of the log.
  let name: String
  let arguments: [String]
  /// The file for stderr.
  let log: URL

  /// Runs the process until it ends. Cancelling the task shuts the process down gracefully.
  ///
  /// - Parameter ready: Called with the first line on stdout.
  /// - Throws: `CommandFailure` with the reason if the process ends by itself, or the error of `ready`.
  func run(ready: @escaping @Sendable (String) async throws -> Void) async throws {
    let file = try openLog()
    var options = PlatformOptions()
    // Ctrl-C in a terminal goes to `up` alone, which then stops its processes.
    options.processGroupID = 0
    options.teardownSequence = [
      .gracefulShutDown(allowedDurationToNextStep: .seconds(UpLimit.stopSeconds))
    ]
    let end = try await Subprocess.run(
      .path(Self.program), arguments: Arguments(arguments), platformOptions: options,
      input: .inputWriter, output: .sequence,
      error: .fileDescriptor(file, closeAfterSpawningProcess: true)
    ) { execution in
      var isReady = false
      for try await line in execution.standardOutput.strings() where !isReady {
        isReady = true
        try await ready(line)
      }
    }
    try Task.checkCancellation()
    throw failure(end.terminationStatus)
  }

  /// The running program.
  private static var program: FilePath {
    FilePath(URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path)
  }

  private func openLog() throws -> FileDescriptor {
    do {
      return try FileDescriptor.open(
        log.path, .writeOnly, options: [.create, .truncate, .append, .closeOnExec],
        permissions: .ownerReadWrite)
    } catch {
      throw CommandFailure.machineFailed(
        "\(log.path.printable) cannot be written: check the disk and the folder.")
    }
  }

  /// The reason in one line: the last line of the log if the process failed. In other cases that line is an earlier
  /// note and not the reason.
  private func failure(_ end: TerminationStatus) -> CommandFailure {
    let text = FileManager.default.contents(atPath: log.path) ?? Data()
    let last = ErrorReport.reason(in: String(decoding: text, as: UTF8.self))
    let place = "look into \(log.path)"
    let reason: String =
      switch end {
      case .signaled(let signal): "signal \(signal) ended it, \(place)"
      case .exited(0): place
      case .exited: last ?? place
      }
    return CommandFailure.machineFailed("\(name) stopped: \(reason)".printable)
  }
}

/// Limits of `up`.
enum UpLimit {
  /// The time in seconds that a process has to stop.
  static let stopSeconds = 10
}
