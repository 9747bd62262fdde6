import ExposureKeys
import Foundation

extension SightingsCSV {
  /// A row as the header names it. A moment is cut to the whole second.
  static func row(_ sighting: Sighting) -> String {
    let (identifier, metadata) = (
      sighting.advertisement.identifier, sighting.advertisement.metadata
    )
    return [
      identifier.bytes.lowerCaseHex, metadata.bytes.lowerCaseHex,
      String(Int(sighting.time.timeIntervalSince1970)), String(sighting.signalStrength),
    ].joined(separator: ",")
  }
}
