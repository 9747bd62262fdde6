// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TextEncodings
import World

/// The parsed log of a phone: its calibration, sent and received beacons.
package struct PhoneLog: Sendable {
  /// The correction for the phone's receiving antenna, in dB; nil if the log does not state it.
  package internal(set) var receiverOffset: Int8?
  /// The calibrated transmit power of the phone in dBm; nil if the log does not state it.
  package internal(set) var calibratedTransmitPower: Int8?
  /// The sent beacons.
  package internal(set) var advertisements: [LoggedAdvertisement] = []
  /// The received beacons, one row for each scan and identifier.
  package internal(set) var sightings: [LoggedSighting] = []
  /// The number of rows that begin the sightings of one identifier.
  package internal(set) var identifiersSeen = 0
  /// The number of rows that could not be parsed.
  package internal(set) var linesSkipped = 0
  /// False if the text has no section, as that of another file.
  private(set) var hasSections = false

  init() {}
}

extension PhoneLog {
  /// Parses the text of a `PHONE_dumpsys.txt` in UTF-8, or in UTF-16 with a byte order mark.
  package init(_ content: Data) {
    self.init()
    var section = LogSection.preamble
    var current: Advertisement?
    for line in Self.unmarked(content).split(separator: UInt8(ascii: "\n")) {
      let row = LogRow(line)
      if row.isEmpty { continue }
      if let next = LogSection(rawValue: row.text) {
        (section, current) = (next, nil)
        hasSections = true
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

  /// The text in UTF-8 without a byte order mark. Windows PowerShell writes output to files in UTF-16.
  private static func unmarked(_ content: Data) -> Data {
    if content.starts(with: [0xef, 0xbb, 0xbf]) { return content.dropFirst(3) }
    let isUTF16 = [[0xff, 0xfe], [0xfe, 0xff]].contains { content.starts(with: $0 as [UInt8]) }
    guard isUTF16, let text = String(data: content, encoding: .utf16) else { return content }
    return Data(text.utf8)
  }

  private mutating func readFlag(_ row: LogRow) -> Bool {
    let parts = row.text.split(separator: "=").map { $0.filter { !$0.isWhitespace } }
    guard parts.count == 2, let number = Int(parts[1]) else { return false }
    switch parts[0] {
    case "rssi_offset":
      guard FieldTrialLimit.receiverOffsets.contains(number) else { return false }
      receiverOffset = Int8(clamping: number)
    case "tx_calibration_power":
      guard let power = Int8(exactly: number) else { return false }
      calibratedTransmitPower = power
    default: break
    }
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
      let identifier = row["RPI"].flatMap({ [UInt8](hexadecimal: $0) }).flatMap({ bytes in
        RollingProximityIdentifier(bytes: bytes)
      }),
      let metadata = row["encryptedMetadata"].flatMap({ [UInt8](hexadecimal: $0) }).flatMap({
        bytes in
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
  /// The transmit power that the row states beside the metadata, in dBm, also if the metadata is withheld.
  package let statedTransmitPower: Int8?

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
    self.identifier = [UInt8](hexadecimal: identifier).flatMap {
      RollingProximityIdentifier(bytes: $0)
    }
    self.metadata = [UInt8](hexadecimal: metadata).flatMap { BluetoothMetadata(bytes: $0) }
    statedTransmitPower = row["txPower"].flatMap { text in
      text.last == ")" ? Int8(text.dropLast()) : nil
    }
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

/// One line of a log, split into words: `NAME=VALUE` or a bare value, separated by tabs or spaces.
struct LogRow {
  /// The trimmed line.
  let text: String
  private let words: [Substring]

  init(_ line: some Sequence<UInt8>) {
    let bytes = line.drop { Self.isSpace($0) }
    let text = String(decoding: Array(bytes), as: UTF8.self)
    let end = text.utf8.lastIndex { !Self.isSpace($0) }.map(text.utf8.index(after:))
    self.text = String(text[..<(end ?? text.startIndex)])
    words = self.text.utf8.split { Self.isSpace($0) }.map { Substring($0) }
  }

  var isEmpty: Bool { words.isEmpty }
  var first: Substring? { words.first }

  /// The value of the word `name=value`.
  subscript(name: String) -> Substring? {
    words.first {
      $0.utf8.starts(with: name.utf8) && $0.utf8.dropFirst(name.utf8.count).first == 0x3d
    }?
    .dropFirst(name.count + 1)
  }

  /// The comma-separated list between the first `[` and the following `]`.
  var list: [Substring]? {
    guard let open = text.utf8.firstIndex(of: UInt8(ascii: "[")),
      let close = text.utf8[open...].firstIndex(of: UInt8(ascii: "]"))
    else { return nil }
    return text.utf8[text.utf8.index(after: open)..<close].split(
      separator: UInt8(ascii: ","), omittingEmptySubsequences: false
    ).map { Substring($0.drop { Self.isSpace($0) }) }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}

/// A time in the format of logs: `2021-03-12T9:19:00-0500`. The hour may lack a leading zero, and the zone
/// may lack minutes.
package struct LogTime: Hashable, Sendable {
  /// The local time, in seconds since 1970 as if it were UTC.
  package let wallSeconds: Int
  /// The stated time zone, in seconds east of UTC.
  package let zoneSeconds: Int

  /// The date, in the stated time zone.
  package var date: Date { date(zoneSeconds: zoneSeconds) }

  /// The date of the same local time in another time zone.
  package func date(zoneSeconds: Int) -> Date {
    Date(unixSecond: wallSeconds - zoneSeconds)
  }

  /// Returns nil if `text` is not such a time.
  package init?(_ text: some StringProtocol) {
    let halves = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    guard halves.count == 2,
      let sign = halves[1].lastIndex(where: { $0 == "+" || $0 == "-" }),
      let day = Self.numbers(halves[0], separator: "-"),
      let time = Self.numbers(halves[1][..<sign], separator: ":"),
      let zone = Self.zone(halves[1][sign...]),
      let days = Self.daysSince1970(year: day[0], month: day[1], day: day[2]),
      0..<24 ~= time[0], 0..<60 ~= time[1], 0..<61 ~= time[2]
    else { return nil }
    wallSeconds = days * 86_400 + time[0] * 3_600 + time[1] * 60 + time[2]
    zoneSeconds = zone
  }

  /// Three unsigned numbers.
  private static func numbers(_ text: some StringProtocol, separator: Character) -> [Int]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let numbers = parts.compactMap { UInt16($0).map(Int.init) }
    return numbers.count == 3 ? numbers : nil
  }

  private static func zone(_ text: some StringProtocol) -> Int? {
    let digits = text.dropFirst()
    guard let number = UInt16(digits), digits.count == 2 || digits.count == 4 else { return nil }
    let hours = digits.count == 2 ? Int(number) : Int(number) / 100
    let minutes = digits.count == 2 ? 0 : Int(number) % 100
    guard hours <= 14, minutes < 60 else { return nil }
    return (text.first == "-" ? -1 : 1) * (hours * 3_600 + minutes * 60)
  }

  /// Days of the Gregorian calendar. Years begin in March, so that the leap day is the last.
  private static func daysSince1970(year: Int, month: Int, day: Int) -> Int? {
    guard 1970...2100 ~= year, 1...12 ~= month, 1...31 ~= day else { return nil }
    let (years, months) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
    let leapDays = years / 4 - years / 100 + years / 400
    let daysTo1970 = 719_468
    return years * 365 + leapDays + (153 * months + 2) / 5 + day - 1 - daysTo1970
  }
}
