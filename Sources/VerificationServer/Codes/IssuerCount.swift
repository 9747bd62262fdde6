// SPDX-License-Identifier: Apache-2.0
/// The number of codes that one issuer has issued on one day in UTC.
struct IssuerCount: Codable, Hashable, Sendable {
  /// The kinds of issuers. The raw values are in the database.
  enum Kind: String, Codable, Hashable, Sendable {
    /// An API key, by its ID.
    case apiKey
    /// The client's name for an issuer.
    case externalIssuer
    /// An official of the console, by name.
    case official
    /// No issuer: what became of user reports, by the name of a `UserReportEvent`.
    case userReport
    /// No issuer: the errors of the SMS gateway, by their code.
    case smsError
  }

  /// An issuer that is counted.
  struct Issuer: Hashable, Sendable {
    let kind: Kind
    let name: String
  }

  /// The day, counted from 1970.
  let day: Int64
  let kind: Kind
  let name: String
  private(set) var issued = 0

  /// No codes of `issuer` on `day`.
  init(day: Int64, _ issuer: Issuer) {
    self.day = day
    kind = issuer.kind
    name = issuer.name
  }

  var issuer: Issuer { Issuer(kind: kind, name: name) }

  mutating func countIssued(_ count: Int) { issued = max(0, issued + count) }

  /// The number that is shown: rounded down, so that no number shows a single code.
  var shown: Int { Self.rounded(issued) }

  /// `count`, rounded down as statistics show it.
  static func rounded(_ count: Int) -> Int { count - count % VerificationLimit.issuerCountMultiple }

  /// The issuers for which a code is counted.
  ///
  /// - Parameters:
  ///   - apiKey: The ID of the API key; nil for the codes that were issued with API tokens, which have no issuer.
  ///   - keyName: The name of the key. The external issuers of the console's key are its officials.
  ///   - externalIssuer: The client's name for the issuer.
  static func issuers(apiKey: String?, keyName: String?, externalIssuer: String?) -> [Issuer] {
    guard let apiKey else { return [] }
    let key = Issuer(kind: .apiKey, name: apiKey)
    guard let externalIssuer else { return [key] }
    let isOfficial = keyName == APIKeys.consoleName
    return [key, Issuer(kind: isOfficial ? .official : .externalIssuer, name: externalIssuer)]
  }
}

/// The events of user reports that are counted. The raw values are in the database.
enum UserReportEvent: String, CaseIterable, Hashable, Sendable {
  /// A code was sent.
  case issued
  /// A code was exchanged for a verification token.
  case claimed
  /// A code was entered on another device than that of the report, and so without its nonce.
  case invalidNonce
  /// A token of a report was exchanged for a certificate.
  case tokenClaimed

  var counted: IssuerCount.Issuer { IssuerCount.Issuer(kind: .userReport, name: rawValue) }
}
