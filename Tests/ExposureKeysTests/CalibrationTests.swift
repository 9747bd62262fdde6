// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import ExposureKeys

@Suite("Calibration")
struct CalibrationTests {
  @Test("A listed model has its own values and high confidence, in any case of letters")
  func listed() {
    let pixel = Calibration(transmitPower: -30, receiverCorrection: 8, confidence: .high)
    #expect(Calibration.of(manufacturer: "Google", model: "Pixel 4", device: "flame") == pixel)
    #expect(Calibration.of(manufacturer: "google", model: "PIXEL 4") == pixel)
  }

  @Test("Models with the same name or device give their mean with medium confidence")
  func similar() {
    // HTC 10: 1 dB and -31 dBm, 2 dB and -33 dBm.
    let mean = Calibration(transmitPower: -32, receiverCorrection: 2, confidence: .medium)
    #expect(Calibration.of(manufacturer: "HTC", model: "HTC 10") == mean)
    #expect(Calibration.of(manufacturer: "HTC", model: "HTC 10", device: "other") == mean)
    let sister = Calibration(transmitPower: -30, receiverCorrection: 8, confidence: .medium)
    #expect(Calibration.of(manufacturer: "Google", model: "other", device: "Flame") == sister)
  }

  @Test("Another model of a manufacturer gets its mean with low confidence")
  func manufacturer() {
    // 5 dB and -31.. -17 dBm of 13 models.
    let oneplus = CalibratedModel.all.filter { $0.manufacturer == "oneplus" }
    #expect(oneplus.count == 13)
    #expect(
      Calibration.of(manufacturer: "OnePlus", model: "none")
        == Calibration(transmitPower: -23, receiverCorrection: 3, confidence: .low))
  }

  @Test("An unknown manufacturer gets the mean of all models with the lowest confidence")
  func unknown() {
    let mean = Calibration(transmitPower: -25, receiverCorrection: 4, confidence: .lowest)
    #expect(Calibration.unknownModel == mean)
    #expect(Calibration.of(manufacturer: "nemo", model: "Pixel 4", device: "flame") == mean)
  }

  @Test(
    "The metadata of a calibrated sender is version 1.1 with its power and confidence",
    arguments: CalibrationConfidence.allCases)
  func metadata(confidence: CalibrationConfidence) {
    let metadata = BluetoothMetadata(Calibration(transmitPower: -30, confidence: confidence))
    #expect(metadata.bytes == [0b0101_0000 | confidence.rawValue << 2, 0xe2, 0, 0])
    #expect((metadata.majorVersion, metadata.minorVersion) == (1, 1))
    #expect(metadata.transmitPower == -30 && metadata.calibrationConfidence == confidence)
    #expect(BluetoothMetadata(transmitPower: -30).calibrationConfidence == nil)
  }

  @Test(
    "Every row of the published list is found with its values",
    .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
  func published() throws {
    let file = SharedData.url("calibration/devices/device_calibration.csv")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst()
    #expect(lines.count == 551 && CalibratedModel.all.count == 551)
    for line in lines {
      let fields = line.split(separator: ",").map(String.init)
      let calibration = Calibration.of(
        manufacturer: fields[0], model: fields[2], device: fields[1])
      #expect(String(calibration.receiverCorrection) == fields[3], "\(line)")
      #expect(String(calibration.transmitPower) == fields[4], "\(line)")
      #expect(String(calibration.confidence.rawValue) == fields[5], "\(line)")
      #expect(BluetoothMetadata.plausibleTransmitPower.contains(calibration.transmitPower))
    }
  }
}
