import Foundation
import Synchronization
import World

/// A clock that stands where the test puts it. Who sleeps on it wakes once the test has moved it on.
final class TestClock: WallClock {
  private let moment: Mutex<Date>

  init(_ moment: Date) {
    self.moment = Mutex(moment)
  }

  var now: Date { moment.withLock { $0 } }

  func advance(by seconds: TimeInterval) {
    moment.withLock { $0 += seconds }
  }

  func sleep(until deadline: Date) async throws {
    while now < deadline { try await Task.sleep(for: .milliseconds(5)) }
  }
}
