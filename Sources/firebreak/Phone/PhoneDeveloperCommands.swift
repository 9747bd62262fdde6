import ArgumentParser
import ExposureKeys
import ExposureNotification
import Foundation
import PhoneProcess
import Terminal

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

  private struct Heard: Codable {
    var scans = 0
    var beacons = 0
  }

  func run() async throws {
    guard options.developer else {
      throw CommandFailure.badInput("This command is for developers: add --developer.")
    }
    let sightings = try csv == "-" ? standardInput() : SightingsCSV(at: csv)
    var heard = Heard()
    for scans in Self.batches(of: sightings) {
      let reply = try await PhoneAccess(options: options).perform(PhoneRequest(.hear(scans)))
      guard reply.status == .done, let json = reply.json else {
        return try reply.print(json: false)
      }
      let part = try JSONDecoder().decode(Heard.self, from: Data(json.utf8))
      heard = Heard(scans: heard.scans + part.scans, beacons: heard.beacons + part.beacons)
    }
    guard !options.json else { return try printJSON(heard) }
    try StandardOutput.write("Heard \(heard.beacons) beacons in \(heard.scans) scans.")
  }

  private func standardInput() throws -> SightingsCSV {
    let content = try FileHandle.standardInput.read(upToCount: InputFile.byteCountMax)
    return try SightingsCSV(content ?? Data())
  }

  /// The scans in requests of limited size, in the order of their times.
  static func batches(of csv: SightingsCSV) -> [[HeardScan]] {
    let scans = Dictionary(grouping: csv.sightings.map(\.sighting), by: \.time)
    var batches: [[HeardScan]] = []
    var count = 0
    for (time, sightings) in scans.sorted(by: { $0.key < $1.key }) {
      let scan = HeardScan(
        time: Int64(time.timeIntervalSince1970),
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
  var rssi: Int8?

  @OptionGroup var options: PhoneOptions

  func request() -> PhoneRequest { PhoneRequest(.sent) }

  func run() async throws {
    guard options.developer else {
      throw CommandFailure.badInput("This command is for developers: add --developer.")
    }
    let reply = try await PhoneAccess(options: options).perform(request())
    guard let rssi, reply.status == .done, !options.json else {
      return try reply.print(json: options.json)
    }
    let lines = reply.text.split(separator: "\n").dropFirst().map { "\($0),\(rssi)" }
    try StandardOutput.write(([SightingsCSV.header] + lines).joined(separator: "\n"))
  }
}
