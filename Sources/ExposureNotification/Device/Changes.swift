import Foundation
import Synchronization

/// Those who want to know when something changed.
final class Changes: Sendable {
  private let observers = Mutex<[UUID: @Sendable () -> Void]>([:])

  /// Calls `observer` after each change, until `remove` with the answer.
  func add(_ observer: @escaping @Sendable () -> Void) -> UUID {
    let id = UUID()
    observers.withLock { $0[id] = observer }
    return id
  }

  func remove(_ id: UUID) {
    observers.withLock { $0[id] = nil }
  }

  func tell() {
    for observer in observers.withLock({ Array($0.values) }) { observer() }
  }
}
