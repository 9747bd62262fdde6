import Foundation

/// What the checks have found, and where the next one begins.
///
/// One value and so one write: were they three, a phone that dies between two of them would list an
/// exposure twice or never.
public struct Findings: Codable, Equatable {
  /// How long an exposure is of interest, in days.
  public static let retentionDays = 14

  /// Newest first.
  public var exposures: [Exposure] = []
  /// The number of the first key file that has not been checked.
  public var nextKeyFile = 1
  /// When the last check ended well.
  public var lastCheck: Date?

  /// Takes in what a check over the files before `nextKeyFile` has found, and forgets what is old.
  mutating func take(_ found: [Exposure], nextKeyFile: Int, at now: Date) {
    exposures.append(contentsOf: found)
    self.nextKeyFile = nextKeyFile
    lastCheck = now
    forgetOld(at: now)
  }

  /// Forgets exposures from before the last fourteen days.
  mutating func forgetOld(at now: Date) {
    let first = now.addingTimeInterval(-Double(Self.retentionDays) * 86_400)
    exposures.removeAll { $0.date < first }
    exposures.sort { $0.date > $1.date }
  }
}
