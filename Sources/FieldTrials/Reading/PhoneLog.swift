import ExposureKeys
import Foundation

/// What a phone logged: how it is calibrated, what it sent, what it heard.
package struct PhoneLog: Sendable {
  /// What makes up for the phone's antenna on reception, in dB; nil where the log does not say.
  package internal(set) var receiverOffset: Int8?
  /// What it sent.
  package internal(set) var advertisements: [LoggedAdvertisement] = []
  /// What it heard, one row a scan and identifier.
  package internal(set) var sightings: [LoggedSighting] = []
  /// Rows that begin what was heard under one identifier.
  package internal(set) var identifiersSeen = 0
  /// Rows that could not be understood.
  package internal(set) var linesSkipped = 0

  /// An empty log.
  init() {}
}

extension PhoneLog {
  /// Reads the text of a `PHONE_dumpsys.txt` (Documentation/FieldTrials.md 1.4).
  package init(_ content: Data) {
    self.init()
    var section = LogSection.preamble
    var heard: Advertisement?
    for line in content.split(separator: UInt8(ascii: "\n")) {
      let row = LogRow(line)
      if row.isEmpty { continue }
      if let next = LogSection(rawValue: row.text) {
        (section, heard) = (next, nil)
        continue
      }
      let isUnderstood =
        switch section {
        case .preamble: true
        case .flags: readFlag(row)
        case .advertisements: readAdvertisement(row)
        case .sightings: readSighting(row, &heard)
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

  /// A row either names who is heard from now on or says when and how strongly.
  private mutating func readSighting(_ row: LogRow, _ heard: inout Advertisement?) -> Bool {
    if row["RPI"] != nil {
      identifiersSeen += 1
      heard = Advertisement(row)
      return heard != nil
    }
    guard let advertisement = heard, let sighting = LoggedSighting(row, of: advertisement) else {
      return false
    }
    sightings.append(sighting)
    return true
  }
}

extension Advertisement {
  /// The beacon that a row of the sightings names.
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

/// The parts of a log; each begins with its name alone on a line.
enum LogSection: String {
  case preamble = ""
  case flags = "Flags:"
  case advertisements = "Advertisement records:"
  case sightings = "Sighting records:"
}

/// One row of what a phone sent.
package struct LoggedAdvertisement: Hashable, Sendable {
  /// Who it called itself; nil where the recording withholds it.
  package let identifier: RollingProximityIdentifier?
  /// The interval the identifier belongs to.
  package let interval: IntervalNumber
  /// Which of the phone's keys it follows from. The keys themselves are not logged.
  package let keyNumber: Int
  /// What the phone said of its radio; nil where the recording withholds it.
  package let metadata: BluetoothMetadata?

  /// The word that stands for what a recording withholds.
  static let withheld = "fake"

  /// Nil where `row` is no such row.
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

/// One row of what a phone heard: all samples of one beacon in one scan.
package struct LoggedSighting: Hashable, Sendable {
  /// The beacon.
  package let advertisement: Advertisement
  /// When the scan began.
  package let time: LogTime
  /// How strongly it was heard, sample by sample, in dBm; at least one.
  package let signalStrengths: [Int8]
  /// Samples of the row that no radio reports: a lost minus sign, an overflow.
  package let implausibleSamples: Int

  /// Nil where `row` is no such row, or has no sample that a radio can report.
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
