// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A gate at which tasks wait until a test opens it, or until they are canceled.
public final class Gate: Sendable {
  private let isOpen = Mutex(false)

  /// Creates a closed gate.
  public init() {}

  public func open() { isOpen.withLock { $0 = true } }

  /// Waits until the gate is open. After the timeout of tests it returns all the same, so that a test of broken code
  /// ends.
  public nonisolated(nonsending) func wait() async throws {
    try await Patience.until { isOpen.withLock { $0 } }
  }
}
