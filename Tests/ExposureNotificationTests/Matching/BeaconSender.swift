// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureKeys
import Foundation

@testable import ExposureNotification

/// A user whose device sends beacons and whose key is published later.
struct BeaconSender {
  /// Midnight UTC, 2020-04-02: the day of the published vectors.
  static let midnight = IntervalNumber(rawValue: 2_642_976)

  let key: DiagnosisKey
  var transmitPower: Int8 = 10

  init(
    _ number: UInt8 = 1, start: UInt32 = midnight.rawValue, period: UInt32 = 144,
    risk: UInt8 = 0, reportType: ReportType? = nil, daysSinceOnset: Int32? = nil
  ) throws {
    let key = try required(
      TemporaryExposureKey(
        bytes: [UInt8](repeating: number, count: 16), rollingStart: IntervalNumber(rawValue: start),
        rollingPeriod: period))
    self.key = try required(
      DiagnosisKey(
        key: key, transmissionRiskLevel: risk, reportType: reportType,
        daysSinceOnsetOfSymptoms: daysSinceOnset))
  }

  /// A sighting of the interval `step` after the key's start, `seconds` after that interval
  /// began, with an attenuation in dB.
  func sighting(
    step: UInt32 = 0, after seconds: TimeInterval = 0, attenuation: Int = 60,
    metadata: BluetoothMetadata? = nil
  ) -> Sighting {
    let sent = IntervalNumber(rawValue: key.key.rollingStart.rawValue + step)
    let schedule = KeySchedule(key.key)
    let identifier = schedule.identifier(at: sent)
    let sealed = schedule.seal(
      metadata ?? BluetoothMetadata(transmitPower: transmitPower), beside: identifier)
    return Sighting(
      advertisement: Advertisement(identifier: identifier, metadata: sealed),
      time: sent.date.addingTimeInterval(seconds),
      signalStrength: Int8(clamping: Int(transmitPower) - attenuation))
  }

  /// Sightings from `seconds` after the key's start, one every five minutes.
  func stay(
    from seconds: TimeInterval = 0, scans: Int, attenuation: Int = 60
  ) -> [Sighting] {
    (0..<scans).map { scan in
      let second = seconds + Double(scan) * 300
      let step = UInt32(second / 600)
      return sighting(
        step: step, after: second - Double(step) * 600, attenuation: attenuation)
    }
  }
}

extension MatchedSighting {
  /// A sighting of the identifier of `step` at `seconds` after midnight; without it, of the identifier of that time.
  static func at(
    _ seconds: TimeInterval, attenuation: Int = 60, step: UInt32? = nil, previousScan: Date? = nil,
    metadata: BluetoothMetadata = BluetoothMetadata(transmitPower: 10)
  ) throws -> MatchedSighting {
    let advertisement = Advertisement(
      identifier: try required(RollingProximityIdentifier(bytes: [UInt8](repeating: 7, count: 16))),
      metadata: try required(AssociatedEncryptedMetadata(bytes: [1, 2, 3, 4])))
    let sighting = Sighting(
      advertisement: advertisement, time: BeaconSender.midnight.date.addingTimeInterval(seconds),
      signalStrength: Int8(clamping: Int(metadata.transmitPower) - attenuation))
    return MatchedSighting(
      ScannedSighting(sighting, previousScan: previousScan),
      sentIn: IntervalNumber(
        rawValue: BeaconSender.midnight.rawValue + (step ?? UInt32(seconds / 600))),
      metadata: metadata)
  }
}

extension ProbeSecret {
  /// A fixed secret.
  static let ofTests = ProbeSecret(bytes: Array(1...32))
}

extension Matcher {
  init(_ sightings: [Sighting]) {
    self.init(ContactIndex(ScannedSighting.inOrder(sightings), secret: .ofTests))
  }

  func matches(of keys: [DiagnosisKey]) -> [KeyMatch] {
    search(KeyBatch(keys)).matches.map(\.decrypted)
  }

  func match(of key: DiagnosisKey) -> KeyMatch? {
    matches(of: [key]).first
  }
}

struct Missing: Error {}

func required<Value>(_ value: Value?) throws -> Value {
  guard let value else { throw Missing() }
  return value
}
