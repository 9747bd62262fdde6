import Foundation
import QuietHTTP
import UploadToken
import VerificationServer

/// What an official sets of the verification server: `verification/settings.json`. Names and defaults are those
/// of `VerificationServerConfiguration`.
///
/// Documentation/Serving.md 12.
struct VerificationServerSettings: Codable {
  var issuer = ServerNames.issuer
  var audience = ServerNames.audience
  var codeLifetime: Double
  var tokenLifetime: Double
  var attempts = AttemptSettings()
  var policy = CodePolicySettings()
  var sms: SMSSettings?
  var allowedOrigin: String?
  var trustedProxies: [String] = []
  var applicationNetmasks: [String]?
  var operatorNetmasks: [String]?

  /// Everything at its default.
  init() throws {
    let standard = try Self.placeholder(issuer: issuer, audience: audience)
    codeLifetime = standard.codeLifetime
    tokenLifetime = standard.tokenLifetime
  }

  init(from decoder: any Decoder) throws {
    try self.init()
    let fields = try SettingFields<CodingKeys>(decoder)
    try fields.read(.issuer, intoName: &issuer)
    try fields.read(.audience, intoName: &audience)
    try fields.read(.codeLifetime, into: &codeLifetime)
    try fields.read(.tokenLifetime, into: &tokenLifetime)
    try fields.read(.attempts, into: &attempts)
    try fields.read(.policy, into: &policy)
    try fields.read(.sms, into: &sms)
    try fields.read(.allowedOrigin, intoOrigin: &allowedOrigin)
    try fields.read(.trustedProxies, intoNetworks: &trustedProxies)
    try fields.read(.applicationNetmasks, intoNetmasks: &applicationNetmasks)
    try fields.read(.operatorNetmasks, intoNetmasks: &operatorNetmasks)
    guard sms != nil || !policy.allowsUserReport else {
      throw CommandFailure.badInput(
        "policy.allowsUserReport: codes of reports go out by SMS, so set sms too.")
    }
  }

  /// The settings that hold: what the command line names in place of what the file says.
  func effective(with options: ServerOptions) -> Self {
    var settings = self
    settings.issuer = options.issuer ?? issuer
    settings.audience = options.audience ?? audience
    return settings
  }

  /// Puts them into `configuration`. `folder` is where the files lie that they name.
  func apply(to configuration: inout VerificationServerConfiguration, folder: URL) throws {
    configuration.codeLifetime = codeLifetime
    configuration.tokenLifetime = tokenLifetime
    configuration.attempts = attempts.limits
    configuration.policy = policy.policy
    configuration.sms = try sms?.configuration(in: folder)
    configuration.allowedOrigin = allowedOrigin
    configuration.trustedProxies = TrustedProxies(trustedProxies) ?? .none
    configuration.applicationNetmasks = try Self.netmasks(
      applicationNetmasks, of: "applicationNetmasks")
    configuration.operatorNetmasks = try Self.netmasks(operatorNetmasks, of: "operatorNetmasks")
  }

  /// Everybody where none are set; a list that makes no sense is never taken for everybody.
  private static func netmasks(_ networks: [String]?, of setting: String) throws -> Netmasks {
    guard let networks else { return .everybody }
    guard let netmasks = Netmasks(networks) else {
      throw CommandFailure.badInput("\(setting) \(Netmasks.need).")
    }
    return netmasks
  }

  /// A server with secrets made up here: for defaults, and to see whether settings make sense.
  static func placeholder(
    issuer: String, audience: String
  ) throws -> VerificationServerConfiguration {
    VerificationServerConfiguration(
      databaseFile: URL(fileURLWithPath: "/dev/null"), apiTokens: [],
      codeHashKey: [UInt8](repeating: 0, count: VerificationLimit.codeHashKeyBytes),
      signing: UploadTokenIssuer(
        keys: try SigningKeys([
          try SecretSigningKey(keyID: "t1", keyVersion: nil, validFrom: nil).tokenKey
        ]), issuer: issuer, audience: audience))
  }
}
