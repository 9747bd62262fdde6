/// Asks for the token that a code is good for; goes inside a `CallableRequest`.
public struct AccessTokenRequest: Codable, Sendable, Hashable {
  /// The code as the person typed it.
  public var code: String?
  /// Base64 of HMAC-SHA256 over the keys that will be uploaded, 32 bytes; the token is bound to it.
  public var ekeyhmac: String?

  /// Asks for the token of `code`, bound to the keys of `ekeyhmac`.
  public init(code: String?, ekeyhmac: String? = nil) {
    self.code = code
    self.ekeyhmac = ekeyhmac
  }
}

extension AccessTokenRequest: CustomStringConvertible, CustomReflectable {
  public var description: String { "AccessTokenRequest" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
