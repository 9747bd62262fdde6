import Synchronization

/// Lets those who wait through once it is opened.
final class Gate: Sendable {
  private let isOpen = Mutex(false)

  func open() { isOpen.withLock { $0 = true } }

  func wait() async throws {
    while !isOpen.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
  }
}
