// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import TextEncodings

/// The object `calibration` of a phone's configuration: the measured values of a radio whose model is in no list.
struct CalibrationSettings {
  private var transmitPower = 0
  private var receiverCorrection = 0
  private var confidence = Confidence.lowest.rawValue

  /// The names of `CalibrationConfidence`.
  private enum Confidence: String, CaseIterable {
    case lowest, low, medium, high

    var value: CalibrationConfidence {
      switch self {
      case .lowest: .lowest
      case .low: .low
      case .medium: .medium
      case .high: .high
      }
    }
  }

  /// The valid transmit powers, in dBm: phones discard beacons that state another one.
  static let transmitPowers =
    Int(
      BluetoothMetadata.plausibleTransmitPower.lowerBound)...Int(
      BluetoothMetadata.plausibleTransmitPower.upperBound)
  /// The valid corrections, in dB; those of all listed models are well within.
  static let receiverCorrections = -50...50

  /// The calibration. Every setting has been validated.
  var calibration: Calibration {
    Calibration(
      transmitPower: Int8(clamping: transmitPower),
      receiverCorrection: Int8(clamping: receiverCorrection),
      confidence: Confidence(rawValue: confidence)?.value ?? .lowest)
  }

  /// The source of the rows in Documentation/Phone.md.
  static var table: SettingsTable<Self> {
    var transmitPower = Setting.integer(
      "transmitPower", \Self.transmitPower, transmitPowers,
      "the transmit power in dBm that the beacons state")
    transmitPower.isRequired = true
    transmitPower.fallback = { _ in nil }
    return SettingsTable(rows: [
      transmitPower,
      .integer(
        "receiverCorrection", \.receiverCorrection, receiverCorrections,
        "the dB that are added to each received signal strength"),
      .choice(
        "confidence", \.confidence, Confidence.allCases.map(\.rawValue),
        "the reliability of the transmit power, also stated in the beacons; `high` for values that"
          + " were measured for this model"),
    ])
  }
}
