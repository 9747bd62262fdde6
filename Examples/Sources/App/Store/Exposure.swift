import Foundation

/// One exposure, as the list shows it.
public struct Exposure: Codable, Equatable {
  /// The day, at midnight UTC.
  public let date: Date
  /// How long, in seconds.
  public let duration: TimeInterval
  /// The score, 0 to 255.
  public let totalRiskScore: UInt8
  /// How infectious the other person was thought to be, 0 to 7.
  public let transmissionRiskLevel: UInt8
}
