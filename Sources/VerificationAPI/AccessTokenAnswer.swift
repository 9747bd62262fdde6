import UploadToken

/// The token, inside a `CallableAnswer`.
public struct AccessTokenAnswer: Codable, Sendable, Hashable {
  /// The token's text.
  public var accessToken: String

  /// Answers with `accessToken`.
  public init(accessToken: String) {
    self.accessToken = accessToken
  }

  /// The token, not yet believed.
  public var token: UnverifiedUploadToken { UnverifiedUploadToken(accessToken) }
}

extension AccessTokenAnswer: CustomStringConvertible, CustomReflectable {
  public var description: String { "AccessTokenAnswer" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
