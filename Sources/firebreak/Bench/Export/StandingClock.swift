import Foundation
import World

/// A clock that stands still, so that one period has just ended and no other.
struct StandingClock: WallClock {
  let now: Date

  func sleep(until deadline: Date) async throws {
    while true { try await Task.sleep(for: .seconds(60)) }
  }
}
