import Foundation
import Synchronization
import World

/// A clock that a snippet moves by hand, from noon of 13 June 2020.
final class HandClock: WallClock {
  private let time = Mutex(Date(timeIntervalSince1970: 1_592_049_600))

  var now: Date { time.withLock { $0 } }

  func move(by seconds: TimeInterval) {
    time.withLock { $0.addTimeInterval(seconds) }
  }

  func sleep(until deadline: Date) async throws {
    try await Task.sleep(for: .seconds(3600))
  }
}
