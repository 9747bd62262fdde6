// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing
import TextEncodings

@testable import ExposureNotification

/// Beacons that NIST recorded between two Raspberry Pi at fixed distances.
@Suite(
  "Recorded signals", .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
struct RecordedSignalsTests {
  /// The published mean signal strength at each distance in centimetres, receiver A.
  private static let published = [
    (50, -47.8), (100, -46.6), (150, -52.4), (200, -51.2), (250, -53.9), (300, -56.7),
    (350, -62.1), (400, -64.1),
  ]

  /// The plausible rows of a recording as sightings of one key.
  private func recording(_ centimetres: Int) throws -> KeyMatch {
    let file = SharedData.url(
      "calibration/nist-rpi/ContactTracingData_\(centimetres)cm_Device_A.csv")
    let lines = try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isNewline)
    let sightings = lines.dropFirst().compactMap { line -> MatchedSighting? in
      let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 8, let time = Double(fields[0]), let strength = Int8(fields[2]),
        (-119..<0).contains(strength),
        let identifier = [UInt8](hexadecimal: fields[4]).flatMap({
          RollingProximityIdentifier(bytes: $0)
        }),
        let metadata = [UInt8](hexadecimal: fields[5] + fields[6] + fields[7])
          .flatMap({ BluetoothMetadata(bytes: $0) }),
        let sealed = AssociatedEncryptedMetadata(bytes: metadata.bytes),
        let interval = IntervalNumber(Date(timeIntervalSince1970: time))
      else { return nil }
      let sighting = Sighting(
        advertisement: Advertisement(identifier: identifier, metadata: sealed),
        time: Date(timeIntervalSince1970: time), signalStrength: strength)
      return MatchedSighting(ScannedSighting(sighting), sentIn: interval, metadata: metadata)
    }
    return KeyMatch(
      key: try BeaconSender().key, sightings: sightings.filter(PlausibilityRule.accepts))
  }

  @Test("Attenuations are the stated 12 dBm minus the published signal strengths")
  func attenuations() throws {
    for (centimetres, strength) in Self.published {
      let match = try recording(centimetres)
      #expect(match.sightings.count > 300)
      let mean = mean(match.sightings.map(\.attenuation.decibels))
      #expect(abs(mean - (12 - strength)) < 0.1, "\(centimetres) cm")
    }
  }

  @Test("The scans of both versions tell one metre from four")
  func distances() throws {
    let means = try [100, 400].map { centimetres -> (Double, Double) in
      let match = try recording(centimetres)
      let windows = ExposureWindow.windows(
        of: match, infectiousness: .standard, diagnosisReportType: .confirmedTest)
      let incidents = ExposureIncident.incidents(of: match)
      return (
        mean(windows.flatMap(\.scanInstances).map(\.typicalAttenuation)),
        mean(incidents.flatMap(\.spans).map(\.attenuation.decibels))
      )
    }
    let (near, far) = (means[0], means[1])
    #expect((55..<63).contains(near.0) && (73..<80).contains(far.0), "\(near.0) and \(far.0) dB")
    // Version 1 takes the nearest beacon of a scan.
    #expect((50..<56).contains(near.1) && (68..<74).contains(far.1), "\(near.1) and \(far.1) dB")
  }

  private func mean(_ numbers: [UInt8]) -> Double {
    numbers.reduce(0.0) { $0 + Double($1) } / Double(numbers.count)
  }
}
