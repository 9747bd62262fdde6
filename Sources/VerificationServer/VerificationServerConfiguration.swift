import Foundation
import QuietHTTP
import UploadToken

/// Everything a verification server must be told. It reads no environment and no command line.
public struct VerificationServerConfiguration: Sendable {
  /// The address to listen on.
  public var host: String
  /// The port to listen on; 0 takes a free one.
  public var port: Int
  /// The SQLite file; its folder must exist.
  public var databaseFile: URL
  /// The tokens with which the health authority's own systems may have codes issued.
  public var apiTokens: [String]
  /// The secret from which the keys of code hashes and sealed tokens come, 32 bytes.
  public var codeHashKey: [UInt8]
  /// How long a code is good, in seconds.
  public var codeLifetime: TimeInterval
  /// How long a token is good, in seconds; not shorter than a code, so that a token that is asked
  /// for again is still good.
  public var tokenLifetime: TimeInterval
  /// Who signs the tokens, and for whom.
  public var signing: UploadTokenIssuer
  /// Gives the signing keys anew, where they are to be changed while the server runs; nil takes those of
  /// `signing`. Where it throws, those that were known go on.
  public var readSigningKeys: (@Sendable () throws -> SigningKeys)?
  /// How many attempts are borne.
  public var attempts: AttemptLimits
  /// The one web page origin that may ask from a browser, such as `https://app.example`.
  public var allowedOrigin: String?
  /// How codes of Google's contract are made.
  public var policy = CodePolicy()
  /// How codes are sent to phones, where they are.
  public var sms: SMSConfiguration?
  /// The proxies whose word on a client's address is taken; without them that of the connection counts.
  public var trustedProxies = TrustedProxies.none
  /// From where apps may ask: the seed contract's `getAccessToken` and Google's device API.
  public var applicationNetmasks = Netmasks.anyAddress
  /// From where the health authority's own systems may ask: the seed contract's `generateCode` and
  /// `generateCodesBatch`, and Google's admin API.
  public var operatorNetmasks = Netmasks.anyAddress

  /// Codes and tokens live half an hour unless said otherwise, as in the seed contract.
  public init(
    host: String = "127.0.0.1", port: Int = 0, databaseFile: URL, apiTokens: [String],
    codeHashKey: [UInt8], codeLifetime: TimeInterval = 1800, tokenLifetime: TimeInterval = 1800,
    signing: UploadTokenIssuer, attempts: AttemptLimits = AttemptLimits(),
    allowedOrigin: String? = nil
  ) {
    self.host = host
    self.port = port
    self.databaseFile = databaseFile
    self.apiTokens = apiTokens
    self.codeHashKey = codeHashKey
    self.codeLifetime = codeLifetime
    self.tokenLifetime = tokenLifetime
    self.signing = signing
    self.attempts = attempts
    self.allowedOrigin = allowedOrigin
  }

  /// Refuses values that no server could keep its promises with.
  ///
  /// - Throws: `VerificationServerError.badConfiguration`, which names the field.
  package func check() throws { _ = try validatedKeys() }

  /// The keys of `codeHashKey`, once every field makes sense.
  ///
  /// - Throws: `VerificationServerError.badConfiguration`, which names the field.
  func validatedKeys() throws -> CodeKeys {
    guard let keys = CodeKeys(codeHashKey: codeHashKey) else {
      throw VerificationServerError.badConfiguration(
        "codeHashKey: must have \(VerificationLimit.codeHashKeyBytes) bytes.")
    }
    guard VerificationLimit.codeLifetimeSeconds.contains(codeLifetime) else {
      throw VerificationServerError.badConfiguration("codeLifetime: must be a minute to a day.")
    }
    guard VerificationLimit.tokenLifetimeSeconds.contains(tokenLifetime),
      tokenLifetime >= codeLifetime
    else {
      throw VerificationServerError.badConfiguration(
        "tokenLifetime: must be a minute to a day, and not shorter than codeLifetime.")
    }
    try attempts.validate()
    guard signing.issuer != signing.audience else {
      throw VerificationServerError.badConfiguration(
        "signing: issuer and audience must differ, for verification tokens have the issuer as theirs."
      )
    }
    try policy.validate()
    try sms?.validate()
    return keys
  }
}

extension VerificationServerConfiguration: CustomStringConvertible, CustomReflectable {
  /// It holds every secret of the server.
  public var description: String { "VerificationServerConfiguration(\(host):\(port))" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
