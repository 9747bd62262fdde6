import Foundation

/// The time of day, as everything in Firebreak is told it.
///
/// No room reads the system's clock by itself: it is handed a clock, so that a town can live through
/// two weeks in a second and a test can stand at midnight. See Documentation/Decisions/0002.
public protocol WallClock: Sendable {
  /// The present moment.
  var now: Date { get }

  /// Returns when `deadline` has come, at once if it has passed.
  ///
  /// - Throws: `CancellationError` where the task is cancelled while it waits.
  func sleep(until deadline: Date) async throws
}
