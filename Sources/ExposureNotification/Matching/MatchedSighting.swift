import ExposureKeys
import Foundation

/// A sighting that a published key explains.
package struct MatchedSighting: Hashable, Sendable {
  /// What was heard.
  package let scanned: ScannedSighting
  /// The interval the identifier belongs to, which the sender's clock showed.
  package let sentIn: IntervalNumber
  /// What the sender said about its radio. Nothing vouches for it.
  package let metadata: BluetoothMetadata

  /// A sighting of an identifier of `sentIn` with its metadata opened.
  package init(_ scanned: ScannedSighting, sentIn: IntervalNumber, metadata: BluetoothMetadata) {
    self.scanned = scanned
    self.sentIn = sentIn
    self.metadata = metadata
  }

  /// When it was heard.
  package var time: Date { scanned.sighting.time }
  /// What was lost on the way (Documentation/RiskScoring.md 1.6).
  package var attenuation: Attenuation {
    Attenuation(
      transmitPower: metadata.transmitPower, signalStrength: scanned.sighting.signalStrength)
  }

  /// How far the transmit power can be relied on. Senders before version 1.1 do not say; the least
  /// that is known of them is their maker's average.
  package var calibrationConfidence: ENCalibrationConfidence {
    metadata.calibrationConfidence.flatMap(ENCalibrationConfidence.init) ?? .low
  }
}

extension MatchedSighting {
  /// By time; at the same moment the stronger first, so that the order never depends on the input's.
  static func inOrderOfTime(_ left: MatchedSighting, _ right: MatchedSighting) -> Bool {
    (left.time, left.attenuation) < (right.time, right.attenuation)
  }
}
