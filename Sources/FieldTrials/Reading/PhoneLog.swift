import ExposureKeys
import Foundation

/// The parsed log of a phone: its calibration, sent and received beacons.
package struct PhoneLog: Sendable {
  /// The correction for the phone's receiving antenna, in dB; nil if the log does not state it.
  package internal(set) var receiverOffset: Int8?
  /// The sent beacons.
  package internal(set) var advertisements: [LoggedAdvertisement] = []
  /// The received beacons, one row for each scan and identifier.
  package internal(set) var sightings: [LoggedSighting] = []
  /// The number of rows that begin the sightings of one identifier.
  package internal(set) var identifiersSeen = 0
  /// The number of rows that could not be parsed.
  package internal(set) var linesSkipped = 0

  init() {}
}

extension PhoneLog {
  /// Parses the text of a `PHONE_dumpsys.txt`.
  package init(_ content: Data) {
    self.init()
    var section = LogSection.preamble
    var current: Advertisement?
    for line in content.split(separator: UInt8(ascii: "\n")) {
      let row = LogRow(line)
      if row.isEmpty { continue }
      if let next = LogSection(rawValue: row.text) {
        (section, current) = (next, nil)
        continue
      }
      let isUnderstood =
        switch section {
        case .preamble: true
        case .flags: readFlag(row)
        case .advertisements: readAdvertisement(row)
        case .sightings: readSighting(row, &current)
        }
      if !isUnderstood { linesSkipped += 1 }
    }
  }

  private mutating func readFlag(_ row: LogRow) -> Bool {
    let parts = row.text.split(separator: "=").map { $0.filter { !$0.isWhitespace } }
    guard parts.count == 2, let number = Int(parts[1]) else { return false }
    guard parts[0] == "rssi_offset" else { return true }
    guard FieldTrialLimit.receiverOffsets.contains(number) else { return false }
    receiverOffset = Int8(clamping: number)
    return true
  }

  private mutating func readAdvertisement(_ row: LogRow) -> Bool {
    guard let advertisement = LoggedAdvertisement(row) else { return false }
    advertisements.append(advertisement)
    return true
  }

  /// A row either has the identifier of the following sightings, or one sighting.
  private mutating func readSighting(_ row: LogRow, _ current: inout Advertisement?) -> Bool {
    if row["RPI"] != nil {
      identifiersSeen += 1
      current = Advertisement(row)
      return current != nil
    }
    guard let advertisement = current, let sighting = LoggedSighting(row, of: advertisement) else {
      return false
    }
    sightings.append(sighting)
    return true
  }
}

extension Advertisement {
  /// The beacon in a row of the sightings.
  fileprivate init?(_ row: LogRow) {
    guard
      let identifier = row["RPI"].flatMap(LogRow.bytes).flatMap({ bytes in
        RollingProximityIdentifier(bytes: bytes)
      }),
      let metadata = row["encryptedMetadata"].flatMap(LogRow.bytes).flatMap({ bytes in
        AssociatedEncryptedMetadata(bytes: bytes)
      })
    else { return nil }
    self.init(identifier: identifier, metadata: metadata)
  }
}

/// The sections of a log; each begins with its name alone on a line.
enum LogSection: String {
  case preamble = ""
  case flags = "Flags:"
  case advertisements = "Advertisement records:"
  case sightings = "Sighting records:"
}

/// One row about a sent beacon.
package struct LoggedAdvertisement: Hashable, Sendable {
  /// The identifier; nil if the recording withholds it.
  package let identifier: RollingProximityIdentifier?
  /// The interval of the identifier.
  package let interval: IntervalNumber
  /// The number of the phone's key that derives it. The keys themselves are not logged.
  package let keyNumber: Int
  /// The phone's metadata; nil if the recording withholds it.
  package let metadata: BluetoothMetadata?

  /// The placeholder for withheld values.
  static let withheld = "fake"

  init?(_ row: LogRow) {
    guard let first = row.first, LogTime(first) != nil,
      let interval = row["intervalNum"].flatMap({ UInt32($0) }),
      let key = row["TEK"], key.first == "#", let keyNumber = UInt16(key.dropFirst()),
      let identifier = row["RPI"], let metadata = row["metadata"]
    else { return nil }
    self.interval = IntervalNumber(rawValue: interval)
    self.keyNumber = Int(keyNumber)
    self.identifier = LogRow.bytes(identifier).flatMap { RollingProximityIdentifier(bytes: $0) }
    self.metadata = LogRow.bytes(metadata).flatMap { BluetoothMetadata(bytes: $0) }
    guard self.identifier != nil || identifier == Self.withheld,
      self.metadata != nil || metadata == Self.withheld
    else { return nil }
  }
}

/// One row about received beacons: all samples of one beacon in one scan.
package struct LoggedSighting: Hashable, Sendable {
  /// The received beacon.
  package let advertisement: Advertisement
  /// The start of the scan.
  package let time: LogTime
  /// The samples in dBm; at least one.
  package let signalStrengths: [Int8]
  /// The number of samples that no radio can report, such as one without its minus sign.
  package let implausibleSamples: Int

  /// Returns nil if `row` is not such a row, or has no sample that a radio can report.
  init?(_ row: LogRow, of advertisement: Advertisement) {
    guard let first = row.first, let time = LogTime(first), let samples = row.list else {
      return nil
    }
    let numbers = samples.compactMap { Int($0) }
    let strengths = numbers.filter(FieldTrialLimit.signalStrengths.contains)
    guard numbers.count == samples.count, !strengths.isEmpty else { return nil }
    self.advertisement = advertisement
    self.time = time
    signalStrengths = strengths.map { Int8(clamping: $0) }
    implausibleSamples = numbers.count - strengths.count
  }
}
