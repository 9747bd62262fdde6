import Foundation

/// Which key files were handed in during the last 24 hours, by SHA-256: what iOS 13.5 counts.
struct KeyFileQuota: Equatable, Codable, Sendable {
  private(set) var seen: [Data: Date] = [:]

  /// Counts `digests` at `now`; false, and nothing counted, where with those not seen before there
  /// would be more than `limit`.
  mutating func take(_ digests: Set<Data>, at now: Date, limit: Int) -> Bool {
    var next = seen.filter { abs($0.value.timeIntervalSince(now)) < Day.seconds }
    for digest in digests where next[digest] == nil { next[digest] = now }
    guard next.count <= limit else { return false }
    seen = next
    return true
  }
}
