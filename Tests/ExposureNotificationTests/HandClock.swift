import Foundation
import Synchronization
import World

/// A clock that stands still until a test moves it.
final class HandClock: WallClock {
  private let time: Mutex<Date>

  init(_ time: Date) {
    self.time = Mutex(time)
  }

  var now: Date { time.withLock { $0 } }

  func move(to date: Date) {
    time.withLock { $0 = date }
  }

  func move(by seconds: TimeInterval) {
    time.withLock { $0 += seconds }
  }

  func sleep(until deadline: Date) async throws {
    while now < deadline {
      try Task.checkCancellation()
      await Task.yield()
    }
  }
}
