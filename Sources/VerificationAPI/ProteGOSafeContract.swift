import UploadToken

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

/// Asks for a new code; goes inside a `CallableRequest`. The answer is the code's six characters.
public struct GenerateCodeRequest: Codable, Sendable, Hashable {
  /// What was found: `confirmed`, which is also what is meant where it is absent.
  public var testType: String?
  /// The day on which symptoms began, as `YYYY-MM-DD` in UTC, where known.
  public var symptomDate: String?

  /// Asks for a code.
  public init(testType: String? = nil, symptomDate: String? = nil) {
    self.testType = testType
    self.symptomDate = symptomDate
  }
}

/// Asks for many codes at once; goes inside a `CallableRequest`. The answer is a list of codes.
public struct GenerateCodesBatchRequest: Codable, Sendable, Hashable {
  /// How long the codes are good, in seconds: 1800, or whole hours up to a day.
  public var duration: Int?
  /// How many codes, 1 to 1000.
  public var numberOfCodes: Int?

  /// Asks for `numberOfCodes` codes that are good for `duration` seconds.
  public init(duration: Int?, numberOfCodes: Int?) {
    self.duration = duration
    self.numberOfCodes = numberOfCodes
  }
}
