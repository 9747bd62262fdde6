// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExposureApp
import Foundation
import HealthAuthorityConsole
import Logging
import Subprocess
import Terminal
import Town
import WebPages
import World

/// `firebreak up`: the whole system on this machine, with a town to try it in, or with a class.
struct UpCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "up",
    abstract: "Run servers, phones and a town page on this machine until Ctrl-C.",
    discussion: """
      Starts the health authority's servers and several phones, each a process of its own, with \
      one clock and simulated Bluetooth. On the printed page you move people, set the clock, diagnose, \
      and see every message. All data is in DIR and survives a restart. Nothing is \
      reachable from other machines. Documentation/Up.md explains it.

      With --class, browsers of this network hold the phones, and a teacher's page shows who was \
      notified, who was missed, and why.
      """)

  @Option(help: "The number of phones. (default: \(Self.defaultPhones))")
  var phones: Int?

  @Option(
    help: ArgumentHelp(
      "The folder with all data. (default: \(Self.defaultFolder))", valueName: "dir"))
  var data: String?

  @Option(
    help: """
      The first port: P for the town page, P+1 to P+3 for the servers, then one for each phone; 0 for free ports.
      """)
  var port = 8_400

  @Option(
    help: ArgumentHelp(
      "The first time of a new clock, in Unix seconds.", valueName: "seconds", visibility: .hidden))
  var startingAt: Int?

  @Flag(help: "Start over: remove the data of an earlier run.")
  var fresh = false

  @Flag(help: "Open the page in the browser.")
  var open = false

  @Flag(help: "Print the addresses as one JSON object on the first line.")
  var json = false

  @OptionGroup(title: "Class") var classroom: ClassOptions

  private static let defaultPhones = 6
  private static let defaultFolder = "firebreak-town"

  private var phoneCount: Int { phones ?? Self.defaultPhones }

  func validate() throws {
    guard classroom.size == nil else {
      guard phones == nil, data == nil, startingAt == nil, !fresh else {
        throw ValidationError(
          "A class has temporary data and as many phones as browsers: leave out --phones, --data and --fresh."
        )
      }
      guard (0...Int(UInt16.max)).contains(port) else {
        throw ValidationError("--port takes 0 to \(UInt16.max).")
      }
      return
    }
    let range = LiveTownLimit.phones
    guard range.contains(phoneCount) else {
      throw ValidationError("--phones takes \(range.lowerBound) to \(range.upperBound).")
    }
    let portsMax = Int(UInt16.max) - UpPorts.count(phones: phoneCount)
    guard (0...portsMax).contains(port) else {
      throw ValidationError("--port takes 0 to \(portsMax) with \(phoneCount) phones.")
    }
  }

  func run() async throws {
    if let size = classroom.size {
      try await ClassRun(options: classroom, size: size, port: port, output: output).run()
    } else {
      try await runTown()
    }
  }

  private var output: UpOutput { UpOutput(isJSON: json, opensBrowser: open) }

  private func runTown() async throws {
    let path = data ?? Self.defaultFolder
    let ports = UpPorts(first: port)
    if !FileManager.default.fileExists(atPath: path) {
      try ports.requireFree(phones: phoneCount)
    }
    let folder = try UpFolder(path: path)
    defer { withExtendedLifetime(folder) {} }
    try ports.requireFree(phones: phoneCount)
    try folder.prepare(isFresh: fresh)
    let town = UpTown(
      folder: folder, ports: ports, names: Array(Resident.names.prefix(phoneCount)),
      start: startingAt.map { Date(unixSecond: $0) } ?? SystemClock().now,
      logger: UpOutput.logger("firebreak.up", .warning))
    let output = output
    do {
      try await town.run { addresses in
        try output.announce(addresses, text: addresses.text, page: addresses.town)
      }
    } catch let error as RehearsalClockError {
      throw CommandFailure.machineFailed(error.description.printable)
    } catch let error as PageServerError {
      throw CommandFailure.machineFailed(error.description.printable)
    }
  }
}

/// The addresses of a town: the first line that `up` prints.
struct UpAddresses: Encodable {
  /// A phone's web app, with its secret.
  struct Phone: Encodable {
    let name: String
    let web: String
  }

  /// The first account of the console, whose credentials are shown once.
  struct Account: Encodable {
    let name: String
    let password: String
    let codeSecret: String
    let codeAddress: String

    init(_ credentials: ConsoleAdministration.Credentials) {
      name = credentials.name
      password = credentials.password
      codeSecret = credentials.codeSecret
      codeAddress = credentials.codeAddress
    }
  }

  let ready = true
  /// The town page, with its secret.
  let town: String
  let verification: String
  let keys: String
  /// The console of the health authority.
  let console: String?
  /// The account that this start has created.
  let account: Account?
  let phones: [Phone]

  /// The output without `--json`.
  var text: String {
    let servers = [
      "The town is running. Open its page:", "  \(town)", "Verification server: \(verification)",
      "Key server: \(keys)",
    ]
    let officials = console.map { ["Console: \($0)"] } ?? []
    let credentials =
      account.map {
        [
          "  Name: \($0.name)", "  Password: \($0.password)",
          "  Secret for the app of one-time codes: \($0.codeSecret)",
          "  Without an app, `firebreak console one-time-code` shows the code of a typed secret.",
          "  Store them now: they are not shown again.",
        ]
      } ?? []
    let owners = phones.map { "\($0.name.capitalized)\u{2019}s phone: \($0.web)" }
    return (servers + officials + credentials + owners + ["Press Ctrl-C to stop."])
      .joined(separator: "\n")
  }
}

/// The ports of a town: its page, the servers and the console, and one for each phone.
struct UpPorts {
  /// The port of the page; 0 for free ports everywhere.
  let first: Int

  private static let serverCount = 3

  /// The number of ports of a town.
  static func count(phones: Int) -> Int { 1 + serverCount + phones }

  /// The first port of `serve`.
  var servers: Int { first == 0 ? 0 : first + 1 }

  /// The port of the phone with this index.
  func phone(_ index: Int) -> Int { first == 0 ? 0 : first + 1 + Self.serverCount + index }

  /// Checks all ports before anything is started, so that there is one error and nothing to stop.
  ///
  /// - Throws: `CommandFailure` that names the port.
  func requireFree(phones: Int) throws(CommandFailure) {
    guard first > 0 else { return }
    for port in first..<first + Self.count(phones: phones) {
      try ListeningAddress(host: "127.0.0.1", port: port).requireAvailable()
    }
  }
}

/// The first lines of `up`, and the page that it opens, when a town or a class runs.
struct UpOutput: Sendable {
  let isJSON: Bool
  let opensBrowser: Bool

  /// Prints the addresses, as one JSON object or as `text`, and opens the page in the browser if that is wanted.
  func announce(_ addresses: some Encodable, text: String, page: String) throws {
    try isJSON ? printJSON(addresses) : StandardOutput.write(text)
    if opensBrowser { Self.open(page) }
  }

  /// Opens an address in the browser of the desktop; prints a note if that is not possible.
  private static func open(_ address: String) {
    // Not awaited: xdg-open may run as long as the browser.
    Task {
      // A desktop without xdg-open is one of the reasons for the note below.
      let run = try? await Subprocess.run(
        .name("xdg-open"), arguments: [address], output: .discarded, error: .discarded)
      if run?.terminationStatus.isSuccess != true {
        note("The browser could not be opened: open the address yourself.")
      }
    }
  }

  /// A logger on standard error, from `level` on.
  static func logger(_ label: String, _ level: Logger.Level) -> Logger {
    Logger(label: label) { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
  }
}
