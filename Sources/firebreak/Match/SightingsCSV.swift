import ExposureKeys
import ExposureNotification
import Foundation

/// What a phone heard, as a CSV. Documentation/CommandLine.md 3.2.
struct SightingsCSV {
  /// The first line, letter by letter.
  static let header = "rpi,aem,unix_time,rssi"

  let sightings: [ScannedSighting]

  /// Reads the file at `path`, or says which line and column is wrong and how.
  init(at path: String) throws {
    try self.init(InputFile(path, what: "file of sightings").content)
  }

  /// Reads `content`, which has at most `rowCountMax` rows below its header.
  init(_ content: Data, rowCountMax: Int = SightingsLimit.rowCountMax) throws {
    var lines = Array(content).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    guard let first = lines.first, Self.withoutReturn(first).elementsEqual(Self.header.utf8) else {
      throw CommandFailure.badInput("The sightings, line 1: needs the header \(Self.header).")
    }
    guard lines.count - 1 <= rowCountMax else {
      throw CommandFailure.badInput(
        "The sightings, line \(rowCountMax + 2): more than \(rowCountMax) rows; split the file.")
    }
    sightings = try lines.enumerated().dropFirst().map { index, line in
      let row = SightingsRow(line: index + 1, text: Self.withoutReturn(line))
      return ScannedSighting(try row.sighting())
    }
  }

  /// Spreadsheets end their lines with two characters.
  private static func withoutReturn(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }
}
