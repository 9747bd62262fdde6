import Foundation
import GRDB

/// One row of `revision_key`. The time is Unix seconds.
struct RevisionKeyRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "revision_key"

  var keyID: String
  var sealed: Data
  var effectiveFrom: Int64

  private enum CodingKeys: String, CodingKey {
    case keyID = "key_id"
    case sealed
    case effectiveFrom = "effective_from"
  }

  init(_ key: SealedRevisionKey) {
    keyID = key.id
    sealed = key.sealed
    effectiveFrom = key.effectiveFrom.wholeSeconds
  }

  /// What the row says.
  var key: SealedRevisionKey {
    SealedRevisionKey(
      id: keyID, sealed: sealed,
      effectiveFrom: Date(timeIntervalSince1970: Double(effectiveFrom)))
  }
}
