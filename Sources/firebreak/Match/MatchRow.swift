import ExposureKeys
import ExposureNotification
import Foundation

/// One row of the CSV that a key explains.
struct MatchRow: Encodable {
  /// In hex.
  let key: String
  /// The interval of the identifier: what the sender's clock showed.
  let intervalNumber: UInt32
  /// When it was heard, in Unix seconds.
  let time: Int
  /// In dBm.
  let rssi: Int8
  /// As the sender states it, in dBm, whether or not a phone can send so.
  let txPower: Int8
  /// The protocol's, major and minor.
  let version: String
  /// In dB.
  let attenuation: UInt8

  init(_ match: RawMatch) {
    let sighting = match.sighting
    key = match.key.secretBytes.lowerCaseHex
    intervalNumber = sighting.sentIn.rawValue
    time = Int(sighting.time.timeIntervalSince1970)
    rssi = sighting.scanned.sighting.signalStrength
    txPower = sighting.metadata.transmitPower
    version = "\(sighting.metadata.majorVersion).\(sighting.metadata.minorVersion)"
    attenuation = sighting.attenuation.decibels
  }

  static let header =
    "time         key                               interval    rssi    tx  attenuation"

  var text: String {
    [
      Self.padded(time, 11), key, Self.padded(intervalNumber, 10), Self.padded(rssi, 5),
      Self.padded(txPower, 4), Self.padded(attenuation, 6) + " dB",
    ].joined(separator: "  ")
  }

  private static func padded(_ number: some BinaryInteger, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
