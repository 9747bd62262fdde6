import ArgumentParser
import Classroom
import Foundation
import Logging
import Terminal
import World

/// `firebreak class`: a lesson for the browsers of a class.
struct ClassCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "class",
    abstract: "Hold a class: each browser gets a phone, the teacher has the outbreak.",
    discussion: """
      Runs phones and servers in this process until Ctrl-C. Browsers in the same network join with the QR code on the \
      teacher's page. Documentation/Classroom.md explains the lesson.
      """,
    shouldDisplay: false)

  @OptionGroup var options: ClassOptions

  func run() async throws { try await ClassRun(options).run() }
}

/// The options of a class.
struct ClassOptions: ParsableArguments {
  @Option(help: "The port of the pages; 0 for any free one.")
  var port: UInt16 = 8_500

  @Option(help: "The seed of places and infections; the same seed gives the same lesson.")
  var seed: UInt64 = 1

  @Option(
    help: ArgumentHelp(
      "A further name or address of this machine, for the browsers of the class.",
      valueName: "host"))
  var host: [String] = []

  @Flag(help: "Print the addresses as one JSON object on the first line.")
  var json = false
}

/// A class from its start to Ctrl-C. Its data is in a temporary folder, which is removed at the end.
struct ClassRun {
  private let options: ClassOptions

  init(_ options: ClassOptions) {
    self.options = options
  }

  func run() async throws {
    let folder = try DemoFolder(keep: nil)
    defer { folder.removeUnlessKept() }
    let room = try room(in: folder.url)
    let running = Task { try await room.run() }
    let signals = SignalHandler { _ in running.cancel() }
    defer { withExtendedLifetime(signals) {} }
    if await room.boundPort > 0 { try await report(room) }
    do {
      try await running.value
    } catch is CancellationError {
      // Stopped as asked.
    } catch let error as ClassroomError {
      throw CommandFailure(status: .machineFailed, sentence: error.description)
    }
  }

  private func room(in folder: URL) throws -> ClassroomService {
    var configuration = ClassroomConfiguration(
      folder: folder, port: Int(options.port), seed: options.seed)
    configuration.hosts = options.host + configuration.hosts
    do {
      return try ClassroomService(
        configuration, clock: SystemClock(), randomness: SystemRandomness(), logger: logger)
    } catch let error as ClassroomError {
      throw CommandFailure(status: .machineFailed, sentence: error.description)
    }
  }

  private func report(_ room: ClassroomService) async throws {
    let addresses = Addresses(teacher: await room.teacherAddress, join: await room.joinAddress)
    guard !options.json else { return try printJSON(addresses) }
    try StandardOutput.write(
      """
      The class is open. Only you open this address, which has the teacher's secret:
        \(addresses.teacher)
      The QR code on that page leads to \(addresses.join), where the class joins.
      Everyone in this network can reach it. Press Ctrl-C to end the class.
      """)
  }

  private struct Addresses: Encodable {
    let ready = true
    let teacher: String
    let join: String

    private enum CodingKeys: CodingKey { case ready, teacher, join }
  }

  private var logger: Logger {
    Logger(label: "firebreak.class") { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = .error
      return handler
    }
  }
}
