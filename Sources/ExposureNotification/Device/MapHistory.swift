import Foundation

/// The map of infectiousness that was used last, and when it last changed.
///
/// Whoever may change the map at will learns from the answers on which day somebody was met; so it
/// changes once a week at most. Documentation/Framework.md 6.6.
struct MapHistory: Equatable, Codable, Sendable {
  private var last: [Int: UInt32]?
  private var changed: Date?

  /// Notes `map` at `now`; false, and nothing noted, where it changed less than a week ago.
  mutating func take(_ map: [Int: UInt32], at now: Date, isFree: Bool) -> Bool {
    guard let last, last != map else {
      last = map
      return true
    }
    if let changed, !isFree, abs(now.timeIntervalSince(changed)) < DeviceLimit.mapChangeSeconds {
      return false
    }
    self.last = map
    changed = now
    return true
  }
}
