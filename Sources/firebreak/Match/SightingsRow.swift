import ExposureKeys
import Foundation

/// One row of a CSV of sightings.
struct SightingsRow {
  /// The line in the file, from 1.
  let line: Int
  let text: ArraySlice<UInt8>

  /// The row's sighting, or a refusal that names line and column.
  func sighting() throws -> Sighting {
    let columns = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    guard columns.count == 4 else {
      throw CommandFailure.badInput(
        "The sightings, line \(line): has \(columns.count) columns, needs \(SightingsCSV.header).")
    }
    guard let identifier = Self.bytes(columns[0]).flatMap(RollingProximityIdentifier.init) else {
      throw refusal(1, "rpi", "needs 32 hexadecimal digits")
    }
    guard let metadata = Self.bytes(columns[1]).flatMap(AssociatedEncryptedMetadata.init) else {
      throw refusal(2, "aem", "needs 8 hexadecimal digits")
    }
    guard let time = Self.number(columns[2], in: SightingsLimit.times) else {
      throw refusal(3, "unix_time", "needs whole Unix seconds from 0 on")
    }
    guard let strength = Self.number(columns[3], in: SightingsLimit.signalStrengths) else {
      throw refusal(4, "rssi", "needs a whole number of dBm from -128 to 127")
    }
    return Sighting(
      advertisement: Advertisement(identifier: identifier, metadata: metadata),
      time: Date(timeIntervalSince1970: Double(time)), signalStrength: Int8(clamping: strength))
  }

  private func refusal(_ number: Int, _ column: String, _ need: String) -> CommandFailure {
    .badInput("The sightings, line \(line), column \(number) (\(column)): \(need).")
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
