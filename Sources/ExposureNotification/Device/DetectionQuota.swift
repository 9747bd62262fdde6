import Foundation

/// How often detection was asked for in the last 24 hours.
struct DetectionQuota: Equatable, Codable, Sendable {
  private(set) var calls: [Date] = []

  /// Counts a call at `now`; false, and nothing counted, where `limit` calls are already behind it.
  mutating func take(at now: Date, limit: Int) -> Bool {
    // A call from the future means that the clock was set back; it counts for a day as well.
    calls.removeAll { abs($0.timeIntervalSince(now)) >= Day.seconds }
    guard calls.count < limit else { return false }
    calls.append(now)
    return true
  }
}
