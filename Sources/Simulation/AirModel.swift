// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Populations

/// The parameters of the simulated radio channel.
public struct AirModel: Sendable {
  /// The loss between two phones; as measured indoors by default.
  public var loss = PathLoss(
    oneMetreDecibels: 45, decadeDecibels: 24, pairDecibels: 0, readingDecibels: 1.5,
    floorDecibels: -100)
  /// The receptions of a beacon in one scan.
  public var receptionsPerScan = Self.receptionsPerScan

  /// Creates the default model.
  public init() {}

  /// The default of `receptionsPerScan`.
  public static let receptionsPerScan = 1...8
  /// The transmit power of all phones, in dBm.
  public static let transmitPower: Int8 = -15
  /// The calibration of all phones: the model is exact.
  public static let calibration = Calibration(transmitPower: transmitPower, confidence: .high)
  /// The length of a scan, in seconds.
  public static let scanSeconds = 4.0
  /// The seconds between two receptions of the same beacon in a scan.
  public static let advertisingSeconds = 0.25
  /// The interval between two scans of a phone, in seconds. The Bluetooth specification demands that a
  /// nearby phone is found within five minutes.
  public static let scanIntervalSeconds = 210...300

  /// The received signal strength, in dBm; `nil` below the sensitivity.
  ///
  /// - Parameters:
  ///   - calibration: That of sender and receiver, which are of the same model.
  ///   - shift: The deviation of this pair in dB.
  public func signalStrength(
    at metres: Double, from calibration: Calibration = Self.calibration, shift: Double = 0,
    _ generator: inout StreamGenerator
  ) -> Int8? {
    loss.strength(
      sent: Self.sent(by: calibration), metres: metres, shift: shift, &generator)
  }

  /// The distance in metres beyond which a phone of this calibration receives nothing.
  public func range(of calibration: Calibration) -> Double {
    loss.range(sent: Self.sent(by: calibration))
  }

  /// The receiver is of the same model and adds its correction.
  private static func sent(by calibration: Calibration) -> Double {
    Double(calibration.transmitPower) - Double(calibration.receiverCorrection)
  }

  /// Calls `received` for each reception of one beacon during a scan: one to several, each with its own strength.
  ///
  /// - Parameters:
  ///   - metres: The distance of the sender.
  ///   - calibration: That of sender and receiver.
  ///   - shift: The deviation of this pair in dB.
  ///   - generator: The draws of the receiver.
  ///   - received: Called with the seconds since the start of the scan and the signal strength in dBm.
  func receive(
    at metres: Double, from calibration: Calibration = Self.calibration, shift: Double = 0,
    _ generator: inout StreamGenerator, _ received: (Double, Int8) -> Void
  ) {
    for number in 0..<generator.number(in: receptionsPerScan) {
      let strength = signalStrength(at: metres, from: calibration, shift: shift, &generator)
      if let strength { received(Double(number) * Self.advertisingSeconds, strength) }
    }
  }
}
