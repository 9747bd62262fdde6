/// Asks for the verification token that a code is good for.
public struct VerifyRequest: Codable, Sendable, Hashable {
  /// The short or the long code, as it was typed or came in the link.
  public var code: String?
  /// The kinds of test that the app can deal with; empty or absent: all.
  public var accept: [String]?
  /// Base64 of the 256 bytes that were sent with a user report; else anything that the app repeats
  /// when it asks again after a lost answer.
  public var nonce: String?
  /// Base64 of random bytes, to be ignored.
  public var padding: String?

  /// Asks for the token of `code`.
  public init(code: String?, accept: [String]? = nil, nonce: String? = nil, padding: String? = nil)
  {
    self.code = code
    self.accept = accept
    self.nonce = nonce
    self.padding = padding
  }
}

extension VerifyRequest: CustomStringConvertible, CustomReflectable {
  public var description: String { "VerifyRequest" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
