/// `{"error":{"message":…,"status":…}}`: how a callable function refuses.
public struct CallableFailure: Codable, Sendable, Hashable, Error {
  /// Why.
  public struct Reason: Codable, Sendable, Hashable {
    /// One sentence for the person who reads the log, never with anything secret in it.
    public var message: String
    /// What the caller's program can act on.
    public var status: CallableStatus
  }

  /// Why.
  public var error: Reason

  /// Refuses with `status`.
  public init(_ status: CallableStatus, message: String = "") {
    error = Reason(message: message, status: status)
  }
}
