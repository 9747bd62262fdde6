/// Asks the system to wake the app some time later.
public protocol BackgroundScheduler: Sendable {
  /// Asks for one more run; a request of the same identifier that still waits is replaced.
  ///
  /// - Throws: where the system takes no request just now.
  func schedule(_ request: BackgroundRequest) throws
}
