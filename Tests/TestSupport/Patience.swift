import Foundation

/// How long a test waits for what should come at once before it says that it did not come.
///
/// Far beyond what the slowest machine needs: all tests run at once, on two cores if need be, and each may
/// have to wait for all others. Only who waits for something broken ever waits so long.
public enum Patience {
  /// For `.timeLimit`.
  public static let minutes = 30
  /// The same, for sockets and requests.
  public static let seconds = 60 * minutes

  /// Asks until it is so, or patience is at its end; the caller says then what it expected.
  public nonisolated(nonsending) static func until(
    _ isSo: nonisolated(nonsending) () async throws -> Bool
  ) async throws {
    let end = ContinuousClock.now + .seconds(seconds)
    while try await !isSo(), ContinuousClock.now < end {
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}
