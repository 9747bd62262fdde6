import Foundation
import Synchronization
import World

/// A clock that stands still until a test moves it.
final class HandClock: WallClock {
  /// 2020-10-15 12:00 UTC.
  static let noon = Date(timeIntervalSince1970: 1_602_763_200)
  static let day: TimeInterval = 86_400

  private let time = Mutex(noon)

  var now: Date { time.withLock { $0 } }

  func move(by seconds: TimeInterval) { time.withLock { $0 += seconds } }

  func sleep(until deadline: Date) async throws {
    while now < deadline {
      try Task.checkCancellation()
      await Task.yield()
    }
  }
}
