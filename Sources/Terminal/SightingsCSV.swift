// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import ExposureNotification
import Foundation
import TextEncodings
import World

/// The received beacons of a phone, as a CSV file.
package struct SightingsCSV {
  /// The required first line.
  package static let header = "rpi,aem,unix_time,rssi"

  package let sightings: [ScannedSighting]

  /// - Throws: `CommandFailure` with the line and column of the first error.
  package init(at path: String) throws {
    let content = try InputFile(path, what: "sightings file").content
    try self.init(content, name: "The sightings file \(path.printable)")
  }

  /// Reads `content`, which has at most `rowCountMax` rows below its header; `name` begins error messages.
  package init(
    _ content: Data, name: String = "The sightings", rowCountMax: Int = SightingsLimit.rowCountMax
  ) throws {
    var lines = Array(content.withoutByteOrderMark).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    guard let first = lines.first,
      Self.trimmingCarriageReturn(first).elementsEqual(Self.header.utf8)
    else {
      if let foreign = ForeignFile(content) {
        throw CommandFailure.badInput("\(name) is \(foreign.kind): \(foreign.remedy).")
      }
      throw CommandFailure.badInput("\(name), line 1: expected the header \(Self.header).")
    }
    guard lines.count - 1 <= rowCountMax else {
      throw CommandFailure.badInput(
        "\(name), line \(rowCountMax + 2): more than \(rowCountMax) rows; split the file.")
    }
    sightings = try lines.enumerated().dropFirst().map { index, line in
      let row = SightingsRow(file: name, line: index + 1, text: Self.trimmingCarriageReturn(line))
      return ScannedSighting(try row.sighting())
    }
  }

  /// Spreadsheets end lines with CR LF.
  private static func trimmingCarriageReturn(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }
}

/// A row of the CSV, not parsed yet.
package struct SightingsRow {
  /// The file in error messages.
  package let file: String
  /// The line in the file, from 1.
  package let line: Int
  package let text: ArraySlice<UInt8>

  package func sighting() throws -> Sighting {
    let columns = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    guard columns.count == 4 else {
      throw CommandFailure.badInput(
        "\(file), line \(line): \(columns.count) columns, expected \(SightingsCSV.header).")
    }
    guard let identifier = Self.bytes(columns[0]).flatMap(RollingProximityIdentifier.init) else {
      throw failure(1, "rpi", "expected 32 hexadecimal digits")
    }
    guard let metadata = Self.bytes(columns[1]).flatMap(AssociatedEncryptedMetadata.init) else {
      throw failure(2, "aem", "expected 8 hexadecimal digits")
    }
    guard let time = Self.number(columns[2], in: SightingsLimit.times) else {
      throw failure(3, "unix_time", "expected Unix seconds, a whole number from 0")
    }
    guard let strength = Self.number(columns[3], in: SightingsLimit.signalStrengths) else {
      throw failure(4, "rssi", "expected a whole number of dBm from -128 to 127")
    }
    return Sighting(
      advertisement: Advertisement(identifier: identifier, metadata: metadata),
      time: Date(unixSecond: time), signalStrength: Int8(clamping: strength))
  }

  private func failure(_ number: Int, _ column: String, _ problem: String) -> CommandFailure {
    .badInput("\(file), line \(line), column \(number) (\(column)): \(problem).")
  }

  private static func number(_ text: ArraySlice<UInt8>, in range: ClosedRange<Int>) -> Int? {
    guard let number = Int(String(decoding: text, as: UTF8.self)), range.contains(number) else {
      return nil
    }
    return number
  }

  private static func bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    [UInt8](hexadecimal: String(decoding: text, as: UTF8.self))
  }
}

extension SightingsCSV {
  /// Formats a row; the time is truncated to seconds.
  package static func row(_ sighting: Sighting) -> String {
    let (identifier, metadata) = (
      sighting.advertisement.identifier, sighting.advertisement.metadata
    )
    return [
      identifier.bytes.hexadecimal, metadata.bytes.hexadecimal,
      String(sighting.time.unixSecond), String(sighting.signalStrength),
    ].joined(separator: ",")
  }
}

/// The limits of a CSV of sightings.
package enum SightingsLimit {
  /// The rows of a file: fifty times the beacons that a phone receives in 14 busy days.
  package static let rowCountMax = 1_000_000
  /// Unix seconds with an interval number of 32 bits.
  package static let times = 0...(Int(UInt32.max) * 600 + 599)
  /// Signal strengths in dBm that a radio can report.
  package static let signalStrengths = Int(Int8.min)...Int(Int8.max)
}
