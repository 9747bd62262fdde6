import Foundation

/// Where a phone has been, as far as its maker knows: what `getUserTraveled` rests on.
///
/// The framework has no map; the program that makes the `Device` brings the answer.
public protocol TravelHistory: Sendable {
  /// Whether the phone has been outside `region` (ISO 3166) after `date`; nil where nobody knows.
  ///
  /// - Throws: where looking failed for a cause of its own; the app's call then fails with `.unknown`.
  func hasLeft(_ region: String, since date: Date) async throws -> Bool?
}
