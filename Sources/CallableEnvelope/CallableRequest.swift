/// `{"data": …, "padding": …}`: how a callable function is asked.
///
/// The padding is thrown away; it makes a real upload as long as a decoy.
public struct CallableRequest<Payload: Codable & Sendable>: Codable, Sendable {
  /// What is asked.
  public var data: Payload
  /// Base64 of random bytes, to be ignored.
  public var padding: String?

  /// Asks for `data`.
  public init(data: Payload, padding: String? = nil) {
    self.data = data
    self.padding = padding
  }
}
