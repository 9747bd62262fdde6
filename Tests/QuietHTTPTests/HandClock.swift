import Foundation
import Synchronization
import World

/// A clock that moves when a test moves it.
final class HandClock: WallClock {
  private let time = Mutex(Date(timeIntervalSince1970: 1_600_000_000))

  var now: Date { time.withLock { $0 } }

  func move(by seconds: TimeInterval) { time.withLock { $0 += seconds } }

  func sleep(until deadline: Date) async throws {
    while now < deadline { try await Task.sleep(for: .milliseconds(1)) }
  }
}
