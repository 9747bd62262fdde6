import Foundation

/// How much has been checked (bridge message 103).
public struct CheckSums: Sendable, Hashable {
  /// When the last check ended well, nil before the first.
  public let lastCheck: Date?
  /// Keys analysed since 00:00 UTC.
  public let todayKeysCount: Int
  /// Keys analysed today and on the six days before.
  public let last7DaysKeysCount: Int
  /// Keys analysed since the beginning.
  public let totalKeysCount: Int
}
