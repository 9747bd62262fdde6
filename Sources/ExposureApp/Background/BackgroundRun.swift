/// One run that the system has granted.
public protocol BackgroundRun: Sendable {
  /// Keeps `handler`, to be called once where the system wants its time back; at once where it
  /// already does.
  func whenTimeIsUp(_ handler: @escaping @Sendable () -> Void)
  /// Gives the time back, once, and says how it went.
  func complete(success: Bool)
}
