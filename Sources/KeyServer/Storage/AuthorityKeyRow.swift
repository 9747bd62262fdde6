import Foundation
import GRDB

/// One row of `authority_key`. Times are Unix seconds.
struct AuthorityKeyRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "authority_key"

  var issuer: String
  var keyID: String
  var publicKey: String
  var goodFrom: Int64
  var goodUntil: Int64?
  var isPulled: Bool

  private enum CodingKeys: String, CodingKey {
    case issuer
    case keyID = "key_id"
    case publicKey = "public_key"
    case goodFrom = "good_from"
    case goodUntil = "good_until"
    case isPulled = "is_pulled"
  }

  init(_ key: AuthorityKey, of issuer: String) {
    self.issuer = issuer
    keyID = key.keyID
    publicKey = key.publicKeyPEM
    goodFrom = key.goodFrom.wholeSeconds
    goodUntil = key.goodUntil?.wholeSeconds
    isPulled = key.isPulled
  }

  /// What the row says.
  var key: AuthorityKey {
    AuthorityKey(
      keyID: keyID, publicKeyPEM: publicKey,
      goodFrom: Date(timeIntervalSince1970: Double(goodFrom)),
      goodUntil: goodUntil.map { Date(timeIntervalSince1970: Double($0)) }, isPulled: isPulled)
  }

  /// The rows of an authority, in the order of their ids.
  static func of(_ issuer: String) -> QueryInterfaceRequest<AuthorityKeyRow> {
    filter(Column("issuer") == issuer).order(Column("key_id"))
  }
}
