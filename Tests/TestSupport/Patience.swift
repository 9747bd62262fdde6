// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// The timeout of tests that wait for something to happen.
///
/// It is far longer than the slowest machine needs, because all tests run concurrently and a test may have to wait for
/// all others. Only a test of broken code waits that long.
public enum Patience {
  /// For `.timeLimit`.
  public static let minutes = 60
  /// For sockets and requests. `FIREBREAK_PATIENCE_SECONDS` sets another value while a test is developed.
  public static let seconds =
    ProcessInfo.processInfo.environment["FIREBREAK_PATIENCE_SECONDS"].flatMap { Int($0) }
    ?? 60 * minutes

  /// Polls the condition until it is true or the timeout expires. The caller then states its expectation.
  public nonisolated(nonsending) static func until(
    _ condition: nonisolated(nonsending) () async throws -> Bool
  ) async throws {
    let end = ContinuousClock.now + .seconds(seconds)
    while try await !condition(), ContinuousClock.now < end {
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}

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
