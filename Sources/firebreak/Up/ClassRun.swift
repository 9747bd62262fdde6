// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Classroom
import Foundation
import Logging
import Terminal
import WebPages
import World

/// The options of `firebreak up --class`.
struct ClassOptions: ParsableArguments {
  /// The option for `size`, whose number may be left out.
  static let sizeOption = "--class"

  @Option(
    name: .customLong("class"), defaultAsFlag: ClassLimit.phonesMax, parsing: .next,
    help: ArgumentHelp(
      """
      Hold a class instead of a town: up to N browsers of this network get a phone each. \
      Documentation/Classroom.md explains the lesson.
      """, valueName: "n"))
  var size: Int?

  @Option(
    help: ArgumentHelp(
      "The address to listen on; 127.0.0.1 for browsers of this machine only.",
      valueName: "address"))
  var listen: String?

  @Option(
    help: ArgumentHelp(
      "A further name or address by which browsers reach this machine. The first is in the QR code.",
      valueName: "name"))
  var host: [String] = []

  @Option(
    help: ArgumentHelp(
      "The seed of places and infections; the same seed gives the same outbreak.",
      valueName: "seed"))
  var seed: UInt64?

  func validate() throws {
    guard let size else {
      guard listen == nil, host.isEmpty, seed == nil else {
        throw ValidationError("--listen, --host and --seed are for a class: add --class.")
      }
      return
    }
    guard (ClassLimit.phonesMin...ClassLimit.phonesMax).contains(size) else {
      throw ValidationError(
        "--class takes \(ClassLimit.phonesMin) to \(ClassLimit.phonesMax) browsers.")
    }
    if let listen {
      var address = in_addr()
      guard inet_pton(AF_INET, listen, &address) == 1 else {
        throw ValidationError(
          "--listen takes an IPv4 address of this machine, such as 192.168.1.20.")
      }
    }
    guard host.allSatisfy(Self.isHostName) else {
      throw ValidationError("--host takes a name or an IPv4 address, without port and path.")
    }
  }

  private static func isHostName(_ text: String) -> Bool {
    text.utf8.count <= hostBytesMax && text.wholeMatch(of: /[A-Za-z0-9.-]+/) != nil
  }

  /// The longest host name whose address fits into a QR code.
  private static let hostBytesMax = 150
}

/// A class from its start to Ctrl-C. Its data is in a temporary folder, which is removed at the end.
struct ClassRun {
  let options: ClassOptions
  /// The number of browsers.
  let size: Int
  let port: Int
  let output: UpOutput

  private static let everyAddress = "0.0.0.0"
  private static let defaultSeed: UInt64 = 1

  private var listen: String { options.listen ?? Self.everyAddress }

  func run() async throws {
    try ListeningAddress(host: listen, port: port, hostOption: "--listen").requireAvailable()
    let folder = try DemoFolder(keep: nil)
    defer { folder.removeUnlessKept() }
    do {
      let classroom = try ClassroomService(
        configuration(in: folder.url), clock: SystemClock(), randomness: SystemRandomness(),
        // The HTTP library logs an error for each connection that ends with the class.
        logger: UpOutput.logger("firebreak.class", .critical))
      let running = Task { try await classroom.run() }
      let signals = SignalHandler { _ in running.cancel() }
      defer { withExtendedLifetime(signals) {} }
      if await classroom.boundPort > 0 { try await report(classroom) }
      try await running.value
    } catch is CancellationError {
      // Cancelled by SIGINT or SIGTERM.
    } catch let error as PageServerError {
      throw CommandFailure.machineFailed(error.description.printable)
    }
  }

  private func configuration(in folder: URL) -> ClassroomConfiguration {
    let hosts =
      listen == Self.everyAddress ? ClassAddresses.hostsOfThisMachine : [listen]
    var configuration = ClassroomConfiguration(
      folder: folder, port: port, seed: options.seed ?? Self.defaultSeed,
      hosts: options.host.map { $0.lowercased() } + hosts)
    configuration.host = listen
    configuration.phonesMax = size
    return configuration
  }

  private func report(_ classroom: ClassroomService) async throws {
    let addresses = Addresses(
      teacher: await classroom.teacherAddress, join: await classroom.joinAddress)
    let text = """
      The class is open for \(size) browsers. Open the teacher's page:
        \(addresses.teacher)
      Its QR code leads the class to \(addresses.join)
      Press Ctrl-C to end the class. Its data is then removed.
      """
    try output.announce(addresses, text: text, page: addresses.teacher)
    if listen == Self.everyAddress {
      note(
        "Everyone in this machine's networks can join, without encryption: use a network of your own, or --listen."
      )
    }
  }

  private struct Addresses: Encodable {
    let ready = true
    let teacher: String
    let join: String
  }
}
