// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The loss of a beacon's signal between two phones: logarithmic in the distance, with random deviations.
public struct PathLoss: Hashable, Sendable {
  /// The loss over the first metre, in dB.
  public var oneMetreDecibels: Double
  /// The additional loss for ten times the distance, in dB.
  public var decadeDecibels: Double
  /// The standard deviation in dB of what lasts for an hour: bodies, pockets and walls between two phones.
  public var pairDecibels: Double
  /// The standard deviation in dB of each reading.
  public var readingDecibels: Double
  /// The weakest signal that a phone receives, in dBm.
  public var floorDecibels: Double

  /// Creates a model.
  public init(
    oneMetreDecibels: Double, decadeDecibels: Double, pairDecibels: Double,
    readingDecibels: Double, floorDecibels: Double
  ) {
    self.oneMetreDecibels = oneMetreDecibels
    self.decadeDecibels = decadeDecibels
    self.pairDecibels = pairDecibels
    self.readingDecibels = readingDecibels
    self.floorDecibels = floorDecibels
  }

  /// Fitted to 16,515 beacons between phones on people with known distances (DP-3T, experiment 34): 54.5 dB at 1 m,
  /// 12.3 dB a decade, residual deviation 9.0 dB, which is divided here between the pair and the reading.
  public static let measured = PathLoss(
    oneMetreDecibels: 54.5, decadeDecibels: 12.3, pairDecibels: 7, readingDecibels: 5.6,
    floorDecibels: -105)

  /// The distances below which the model is not continued, in metres.
  private static let nearestMetres = 0.1

  /// The largest deviation of a reading, in standard deviations.
  private static let deviationsMax = 2.0

  /// The distance in metres beyond which nothing is received.
  ///
  /// - Parameter sent: The transmit power in dBm, less the correction of the receiver.
  public func range(sent: Double) -> Double {
    let loss = sent - floorDecibels + Self.deviationsMax * (readingDecibels + pairDecibels)
    return pow(10, (loss - oneMetreDecibels) / decadeDecibels)
  }

  /// The attenuation in dB at a distance without deviations.
  public func mean(metres: Double) -> Double {
    oneMetreDecibels + decadeDecibels * log10(max(metres, Self.nearestMetres))
  }

  /// The strength of one reading in dBm; nil if it is too weak to be received.
  ///
  /// - Parameters:
  ///   - sent: The transmit power in dBm, less the correction of the receiver.
  ///   - shift: The deviation of this pair in dB.
  public func strength(
    sent: Double, metres: Double, shift: Double, _ generator: inout StreamGenerator
  ) -> Int8? {
    let deviation = min(max(generator.normal(), -Self.deviationsMax), Self.deviationsMax)
    let received = sent - mean(metres: metres) - shift - readingDecibels * deviation
    return received < floorDecibels ? nil : Int8(clamping: Int(received.rounded()))
  }
}
