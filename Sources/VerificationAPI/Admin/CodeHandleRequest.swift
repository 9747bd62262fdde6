/// Names a code that was issued: to ask for its status, or to end it.
public struct CodeHandleRequest: Codable, Sendable, Hashable {
  /// The name that the answer of the issue gave.
  public var uuid: String?
  /// Base64 of random bytes, to be ignored.
  public var padding: String?

  /// Names the code of `uuid`.
  public init(uuid: String?) {
    self.uuid = uuid
  }
}
