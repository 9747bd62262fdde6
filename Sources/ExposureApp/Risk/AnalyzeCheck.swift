import Foundation

/// One run that analysed key files.
public struct AnalyzeCheck: Codable, Sendable, Hashable {
  /// When it ended.
  public let date: Date
  /// How many of the keys this phone has met.
  public let matchedKeyCount: Int
  /// How many keys there were.
  public let keysCount: Int
}
