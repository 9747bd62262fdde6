import Foundation

/// The way from this phone to a server. Documentation/App.md 9.
///
/// The real one is `HTTPNetwork`; tests and towns hand in their own.
public protocol Network: Sendable {
  /// What the phone is connected by; it decides how long a download may take.
  var connection: NetworkConnection { get async }

  /// Sends `request` and waits for the whole answer. Every status is an answer; redirects are not
  /// followed.
  ///
  /// - Throws: `NetworkFailure`, or `CancellationError` where the task is cancelled.
  func send(_ request: NetworkRequest) async throws -> NetworkAnswer

  /// Sends `request` and writes the body of a 200 answer to `file`, which is on the disk when this
  /// returns; of any other answer the body is thrown away. What is in `file` after an error is
  /// not to be used. The answer comes back without a body.
  ///
  /// - Throws: `NetworkFailure`, or `CancellationError` where the task is cancelled.
  func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkAnswer
}
