import Foundation
import VerificationServer

/// A gateway that speaks Twilio's Messages resource. Documentation/VerificationServer.md 7.4.
struct SMSGatewaySettings: Codable {
  var baseURL: String
  var account: String
  /// The file of the account's token.
  var tokenFile: String
  /// The number or name that texts come from.
  var from: String

  init(from decoder: any Decoder) throws {
    let fields = try SettingFields<CodingKeys>(decoder)
    baseURL = try fields.address(.baseURL)
    account = try fields.name(.account)
    tokenFile = try fields.name(.tokenFile)
    from = try fields.name(.from)
  }

  /// The gateway, with the token from its file below `folder`.
  func gateway(in folder: URL) throws -> SMSGateway {
    guard let url = URL(string: baseURL) else {
      throw CommandFailure.badInput("sms.gateway.baseURL needs an address.")
    }
    return SMSGateway(
      baseURL: url, account: account,
      token: try SecretFile(tokenFile, in: folder, setting: "sms.gateway.tokenFile").text(),
      from: from)
  }
}
