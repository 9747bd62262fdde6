// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import ServerStorage
import UploadToken
import World

/// The cause of a refused upload, for the operator. Several causes have one response, so that it does not help to
/// forge certificates.
struct RefusalCause: Hashable, Sendable {
  /// The name in the counts; one of a fixed set.
  let name: String
  /// More about this refusal, without data of the user.
  var detail: String?
  /// The remedy that the operator can try.
  let advice: String

  static let keyHMAC = RefusalCause(
    name: "HMAC", advice: "the certificate or token is for other keys: check the app's HMAC")
  static let reportType = RefusalCause(
    name: "report type", advice: "check which report types the authority certifies")
  static let notOfApp = RefusalCause(
    name: "authority of app", advice: "add the authority to the app with `app add`")
  static let used = RefusalCause(
    name: "used token", advice: "a certificate or token was sent again with other keys")
  static let missingToken = RefusalCause(
    name: "no token", advice: "check if the app sends its certificate or token")
  static let app = RefusalCause(
    name: "app", advice: "check `app list` and appPackages in keys/settings.json")
  static let region = RefusalCause(
    name: "region", advice: "check the regions of the app, regions and publish.defaultRegion")
  static let platform = RefusalCause(
    name: "platform", advice: "check platforms in keys/settings.json")
  static let device = RefusalCause(
    name: "device check", advice: "check deviceCheck and the clocks of the phones")
  static let request = RefusalCause(
    name: "request", advice: "requests break a rule of the contract: check the app's version")
  static let revision = RefusalCause(
    name: "revision", advice: "uploads revise keys without the right revision token")
  static let attempts = RefusalCause(
    name: "attempts of an address",
    advice: "raise uploadAttempts or block the address; behind a proxy, set trustedProxies")

  /// The name of the cause of a temporary failure of the server, which the log has already.
  static let failure = "failure of the server"

  /// The names of all causes.
  static let names =
    [
      keyHMAC, reportType, notOfApp, used, missingToken, app, region, platform, device, request,
      revision, attempts,
    ].map(\.name) + [failure]
    + UploadTokenRefusal.allCases.map { RefusalCause($0, of: "", at: .distantPast).name }

  /// Logs and counts the refusal.
  func record(in log: RefusalLog, route: String, requestLogger: Logger) {
    log.record(
      name, route: route, detail: detail, advice: advice, requestLogger: requestLogger)
  }
}

extension RefusalCause {
  /// The cause of a refused certificate or token with the given text.
  init(_ refusal: UploadTokenRefusal, of text: String, at now: Date) {
    let claims = Claims(text)
    switch refusal {
    case .malformed:
      self.init(name: "form of token", advice: "the text is no certificate or token")
    case .unknownKey:
      self.init(
        name: "key id",
        advice: "add the authority's new key, or check its jwksURL and token-keys.json"
      )
    case .wrongSignature:
      self.init(name: "signature", advice: "the authority signs with another key of the same id")
    case .wrongIssuer:
      self.init(name: "issuer", advice: "check `authority list` and the authority's issuer")
    case .wrongAudience:
      self.init(
        name: "audience", advice: "the certificates are for another server: compare the audience")
    case .notYetValid:
      // The signature was verified before the times, so the claims are the authority's.
      self.init(
        name: "clock", detail: claims?.begin.map { "issued \(Self.seconds(now, $0)) ahead of us" },
        advice: "compare the clocks of this server and of the verification server")
    case .expired:
      self.init(
        name: "expiry", detail: claims?.exp.map { "expired \(Self.seconds($0, now)) ago" },
        advice:
          "phones upload late, or the clocks of this server and the verification server differ")
    }
  }

  private static func seconds(_ start: Date, _ end: Int64) -> String {
    "\(end - start.unixSecond) seconds"
  }

  private static func seconds(_ start: Int64, _ end: Date) -> String {
    "\(end.unixSecond - start) seconds"
  }

  /// The times of a token.
  private struct Claims: Decodable {
    let iat: Int64?
    let nbf: Int64?
    let exp: Int64?

    /// The first valid second.
    var begin: Int64? { [iat, nbf].compactMap(\.self).max() }

    /// Nil if the text is no token.
    init?(_ text: String) {
      // A text that is no token has no times.
      guard let token = try? CompactToken(text), let claims = token.hint(Self.self) else {
        return nil
      }
      self = claims
    }
  }
}
