// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExposureApp
import ExposureKeys
import ExposureNotification
import Foundation
import PhoneProcess
import Secrets
import Terminal
import World

/// A command that performs one operation and prints its result.
protocol PhoneOwnerCommand: AsyncParsableCommand {
  var options: PhoneOptions { get }
  /// The operation, with the PIN of an upload.
  func request() throws -> PhoneRequest
}

extension PhoneOwnerCommand {
  func run() async throws {
    let request = try request()
    if request.operation.isForDevelopers { try options.requireDeveloper() }
    try await PhoneAccess(options: options).perform(request).print(json: options.json)
  }
}

extension PhoneReply {
  /// Prints the result. With `json`, the object is on stdout even if the answer is no.
  ///
  /// - Throws: `CommandFailure` with the reason, unless the operation is done.
  func print(json isJSON: Bool) throws {
    if isJSON, let json {
      try StandardOutput.write(json)
    } else if status == .done {
      try StandardOutput.write(text)
    }
    guard status != .done else { return }
    throw CommandFailure(
      status: ExitStatus(rawValue: Int32(status.rawValue)) ?? .machineFailed,
      message: text.split(separator: "\n").joined(separator: " "))
  }
}

/// `firebreak phone status`
struct PhoneStatusCommand: PhoneOwnerCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the state of the phone.")

  @OptionGroup var options: PhoneOptions

  func request() -> PhoneRequest { PhoneRequest(.status) }
}

/// `firebreak phone check`
struct PhoneCheckCommand: PhoneOwnerCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Download and analyse new key files now.",
    discussion: "A running phone checks by itself every four hours.")

  @OptionGroup var options: PhoneOptions

  func request() -> PhoneRequest { PhoneRequest(.check) }
}

/// `firebreak phone enable`
struct PhoneEnableCommand: PhoneOwnerCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable", abstract: "Turn exposure notifications on.",
    discussion: "The command is your consent to sending and receiving beacons.")

  @OptionGroup var options: PhoneOptions

  func request() -> PhoneRequest { PhoneRequest(.enable) }
}

/// `firebreak phone disable`
struct PhoneDisableCommand: PhoneOwnerCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable", abstract: "Turn exposure notifications off.",
    discussion: "Own keys and received identifiers stay on the phone.")

  @OptionGroup var options: PhoneOptions

  func request() -> PhoneRequest { PhoneRequest(.disable) }
}

/// `firebreak phone history`
struct PhoneHistoryCommand: PhoneOwnerCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "List the checks of the last fourteen days.")

  @OptionGroup var options: PhoneOptions

  func request() -> PhoneRequest { PhoneRequest(.history) }
}

/// `firebreak phone exposures`
struct PhoneExposuresCommand: PhoneOwnerCommand {
  static let configuration = CommandConfiguration(
    commandName: "exposures", abstract: "List the exposures of the last fourteen days.")

  @OptionGroup var options: PhoneOptions

  func request() -> PhoneRequest { PhoneRequest(.exposures) }
}

/// `firebreak phone upload`
struct PhoneUploadCommand: PhoneOwnerCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload", abstract: "Share your keys, so that your contacts are warned.",
    discussion: """
      The command is your consent. Other users of the machine can see a PIN on the command line; with - it is read \
      from stdin. After a failure of the network, repeat the command with the same PIN. A stated day stays on the \
      phone: it chooses the transmission risk of each key by the health authority's table.
      """)

  @Argument(
    help: """
      The PIN of the health authority, six to ten letters and digits, or a doctor's code of six \
      to eleven digits; - for stdin.
      """)
  var pin: String

  @Flag(help: "Share the keys with other countries, too.")
  var abroad = false

  @Option(help: ArgumentHelp("The day of your test, such as 2026-11-20.", valueName: "day"))
  var testedOn: String?

  @Option(help: ArgumentHelp("The day of your first symptoms.", valueName: "day"))
  var symptomsSince: String?

  @OptionGroup var options: PhoneOptions

  func request() throws -> PhoneRequest {
    let typed = pin == "-" ? try Self.line() : ZeroingBytes(copying: pin.utf8)
    guard typed.count <= PhoneMessageLimit.pinBytesMax else {
      throw CommandFailure.badInput(UploadFailure.invalidPIN.description)
    }
    return PhoneRequest(.upload(sharesAbroad: abroad, diagnosis: diagnosis), pin: typed)
  }

  func validate() throws {
    guard testedOn == nil || symptomsSince == nil else {
      throw ValidationError("State the day of the test or of the first symptoms, not both.")
    }
    for day in [testedOn, symptomsSince].compactMap({ $0 }) where CalendarDay(day) == nil {
      throw ValidationError("--tested-on and --symptoms-since take a day such as 2026-11-20.")
    }
  }

  private var diagnosis: Diagnosis {
    if let day = testedOn.flatMap(CalendarDay.init) { return .test(day: day) }
    return symptomsSince.flatMap(CalendarDay.init).map { .symptoms(day: $0) } ?? .notStated
  }

  /// The first line of stdin; of a line that is too long for a PIN, the first bytes.
  private static func line() throws -> ZeroingBytes {
    var line: [UInt8] = []
    line.reserveCapacity(PhoneMessageLimit.pinBytesMax + 1)
    var byte: UInt8 = 0
    while line.count <= PhoneMessageLimit.pinBytesMax, read(STDIN_FILENO, &byte, 1) == 1,
      byte != UInt8(ascii: "\n")
    {
      line.append(byte)
    }
    defer { line.zero() }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    guard !line.isEmpty else {
      throw CommandFailure.badInput("There is no PIN on stdin: write it on one line.")
    }
    return ZeroingBytes(moving: &line)
  }
}

/// `firebreak phone share-following-days`
struct PhoneFollowingDaysCommand: PhoneOwnerCommand {
  static let configuration = CommandConfiguration(
    commandName: "share-following-days",
    abstract: "After an upload, share the keys of the following days, too.",
    discussion: """
      The command is your consent. The running phone then shares the key of each day after it has ended, for ten days \
      from your test or first symptoms on. `status` shows the last day. With --end no more keys are shared.
      """)

  @Flag(help: "End it, or decline.")
  var end = false

  @OptionGroup var options: PhoneOptions

  func request() -> PhoneRequest { PhoneRequest(.followingDays(end ? .end : .share)) }
}

/// `firebreak phone travel`
struct PhoneTravelCommand: PhoneOwnerCommand {
  static let configuration = CommandConfiguration(
    commandName: "travel", abstract: "Show if you have left your region in the last fourteen days.",
    discussion: "The phone knows only the regions that are reported with --to.")

  @Option(help: ArgumentHelp("Record that you are in this region now.", valueName: "region"))
  var to: String?

  @OptionGroup var options: PhoneOptions

  func validate() throws {
    guard to.map(TravelLimit.isRegion) ?? true else {
      throw ValidationError("--to takes a region such as PL or US-CA.")
    }
  }

  func request() -> PhoneRequest { PhoneRequest(.travel(to: to)) }
}

/// `firebreak phone remove`
struct PhoneRemoveCommand: PhoneOwnerCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove exposures, the history of checks, notices, or everything.",
    discussion: """
      `everything` turns exposure notifications off and removes own keys and received identifiers as well. Removed \
      data cannot be restored.
      """)

  @Argument(help: "exposures, history, notices or everything.")
  var removal: PhoneOperation.Removal

  @OptionGroup var options: PhoneOptions

  func request() -> PhoneRequest { PhoneRequest(.remove(removal)) }
}

extension PhoneOperation.Removal: ExpressibleByArgument {}

/// `firebreak phone start-over`
struct PhoneStartOverCommand: PhoneOwnerCommand {
  static let configuration = CommandConfiguration(
    commandName: "start-over", abstract: "Go on without the app's data, which is damaged.",
    discussion: """
      It is refused unless `status` says that the storage is damaged: first make sure that the sealing key is the \
      right one. The damaged files are kept until `remove everything`.
      """)

  @OptionGroup var options: PhoneOptions

  func request() -> PhoneRequest { PhoneRequest(.startOver) }
}

/// `firebreak phone export-my-data`
struct PhoneExportCommand: PhoneOwnerCommand {
  static let configuration = CommandConfiguration(
    commandName: "export-my-data", abstract: "Print all data about you as JSON.",
    discussion: "Own keys and received identifiers are only counted.")

  @OptionGroup var options: PhoneOptions

  func request() -> PhoneRequest { PhoneRequest(.exportMyData) }
}

/// `firebreak phone hear`: receives sightings as if they came from the radio.
struct PhoneHearCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hear", abstract: "Receive the sightings of a CSV, as if over the radio.",
    discussion: """
      For developers. The CSV is that of `match`, with the header \(SightingsCSV.header). Rows with the same time are \
      one scan. The phone must be enabled and started with --developer.
      """)

  @Argument(help: "The CSV, or - for stdin.")
  var csv: String

  @OptionGroup var options: PhoneOptions

  func run() async throws {
    try options.requireDeveloper()
    let sightings = try csv == "-" ? standardInput() : SightingsCSV(at: csv)
    var heard = HeardReport()
    for scans in Self.batches(of: sightings) {
      let reply = try await PhoneAccess(options: options).perform(PhoneRequest(.hear(scans)))
      guard reply.status == .done, let json = reply.json else {
        return try reply.print(json: false)
      }
      heard += try JSONDecoder().decode(HeardReport.self, from: Data(json.utf8))
    }
    guard !options.json else { return try printJSON(heard) }
    try StandardOutput.write(heard.text)
  }

  private func standardInput() throws -> SightingsCSV {
    let content = try FileHandle.standardInput.read(upToCount: InputFile.byteCountMax)
    return try SightingsCSV(content ?? Data(), name: "The sightings on stdin")
  }

  /// The scans in requests of limited size, in the order of their times.
  static func batches(of csv: SightingsCSV) -> [[HeardScan]] {
    let scans = Dictionary(grouping: csv.sightings.map(\.sighting), by: \.time)
    var batches: [[HeardScan]] = []
    var count = 0
    for (time, sightings) in scans.sorted(by: { $0.key < $1.key }) {
      let scan = HeardScan(
        time: time.unixSecond,
        beacons: sightings.map {
          HeardScan.Beacon(
            bytes: Data($0.advertisement.identifier.bytes + $0.advertisement.metadata.bytes),
            signalStrength: $0.signalStrength)
        })
      count += scan.beacons.count
      if batches.isEmpty || count > PhoneMessageLimit.beaconsPerRequest {
        batches.append([])
        count = scan.beacons.count
      }
      batches[batches.count - 1].append(scan)
    }
    return batches
  }
}

/// `firebreak phone sent`: the identifiers that the phone has sent.
struct PhoneSentCommand: PhoneOwnerCommand {
  static let configuration = CommandConfiguration(
    commandName: "sent", abstract: "List the identifiers that the phone has sent since its start.",
    discussion: "For developers. With --rssi the list is a CSV for `hear`.")

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Add a column with this signal strength.", valueName: "dBm"))
  var rssi: Int?

  @OptionGroup var options: PhoneOptions

  func validate() throws {
    let strengths = SightingsLimit.signalStrengths
    guard rssi.map(strengths.contains) ?? true else {
      throw ValidationError("--rssi takes \(strengths.lowerBound) to \(strengths.upperBound) dBm.")
    }
  }

  func request() -> PhoneRequest { PhoneRequest(.sent) }

  func run() async throws {
    try options.requireDeveloper()
    let reply = try await PhoneAccess(options: options).perform(request())
    guard let rssi, reply.status == .done, !options.json else {
      return try reply.print(json: options.json)
    }
    let lines = reply.text.split(separator: "\n").dropFirst().map { "\($0),\(rssi)" }
    try StandardOutput.write(([SightingsCSV.header] + lines).joined(separator: "\n"))
  }
}

extension PhoneOptions {
  fileprivate func requireDeveloper() throws {
    guard developer else {
      throw CommandFailure.badInput("This command is for developers: add --developer.")
    }
  }
}
