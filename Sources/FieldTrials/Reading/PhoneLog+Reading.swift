import ExposureKeys
import Foundation

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
