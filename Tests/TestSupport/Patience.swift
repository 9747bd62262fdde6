// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The timeouts of tests that wait for something to happen.
///
/// They are far longer than the slowest machine needs. Only a test of broken code waits that long.
public enum Patience {
  /// For `.timeLimit`: a test that waits many times. A proof repeats a test often.
  public static let minutes = Proof.isRunning ? 60 : 15
  /// For a single wait, such as one of a socket. `FIREBREAK_PATIENCE_SECONDS` sets another value while a test is
  /// developed.
  public static let seconds =
    ProcessInfo.processInfo.environment["FIREBREAK_PATIENCE_SECONDS"].flatMap { Int($0) } ?? 240

  /// Polls the condition until it is true or the timeout expires. The caller then states its expectation.
  public nonisolated(nonsending) static func until(
    _ condition: nonisolated(nonsending) () async throws -> Bool
  ) async throws {
    let end = ContinuousClock.now + .seconds(seconds)
    while try await !condition(), ContinuousClock.now < end {
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// The same without a pause, for a condition that other tasks fulfil at once, as in a simulation of a week. Records
  /// an issue if the timeout expires.
  public nonisolated(nonsending) static func yielding(
    until condition: nonisolated(nonsending) () async -> Bool
  ) async {
    let end = ContinuousClock.now + .seconds(seconds)
    while await !condition() {
      guard ContinuousClock.now < end else {
        Issue.record("The condition is still false after \(seconds) seconds")
        return
      }
      await Task.yield()
    }
  }
}
