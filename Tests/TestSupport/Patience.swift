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

  /// Polls the condition until it is true. Records an issue if the timeout expires: a test that went on would pass
  /// although it lost what it waited for.
  public nonisolated(nonsending) static func until(
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
    _ condition: nonisolated(nonsending) () async throws -> Bool
  ) async throws {
    let start = ContinuousClock.now
    while try await !condition() {
      let elapsed = ContinuousClock.now - start
      guard elapsed < .seconds(seconds) else { return recordExpiry(fileID, filePath, line) }
      try await Task.sleep(for: pause(after: elapsed, atLeast: .milliseconds(20)))
    }
  }

  /// The pause between two polls: a tenth of the time that has passed, within limits. Many conditions start a process
  /// or ask a browser, which takes processor time from what they wait for.
  static func pause(after elapsed: Duration, atLeast shortest: Duration) -> Duration {
    min(max(elapsed / 10, shortest), .milliseconds(100))
  }

  /// Repeats an attempt that failed and took longer than a limit of the server: on a busy machine that time may be over
  /// before the test has done its part.
  ///
  /// - Returns: True if an attempt has succeeded.
  public nonisolated(nonsending) static func succeeds(
    within seconds: Int, fileID: String = #fileID, filePath: String = #filePath,
    line: Int = #line, _ attempt: nonisolated(nonsending) () async throws -> Bool
  ) async throws -> Bool {
    var hasSucceeded = false
    try await until(fileID: fileID, filePath: filePath, line: line) {
      let start = ContinuousClock.now
      hasSucceeded = try await attempt()
      return hasSucceeded || ContinuousClock.now - start < .seconds(seconds)
    }
    return hasSucceeded
  }

  /// `until` without a pause, for a condition that other tasks fulfil at once, as in a simulation of a week.
  public nonisolated(nonsending) static func yielding(
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
    until condition: nonisolated(nonsending) () async -> Bool
  ) async {
    let end = ContinuousClock.now + .seconds(seconds)
    while await !condition() {
      guard ContinuousClock.now < end else { return recordExpiry(fileID, filePath, line) }
      await Task.yield()
    }
  }

  private static func recordExpiry(_ fileID: String, _ filePath: String, _ line: Int) {
    Issue.record(
      "The condition is still false after \(seconds) seconds",
      sourceLocation: SourceLocation(fileID: fileID, filePath: filePath, line: line, column: 1))
  }
}
