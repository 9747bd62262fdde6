import Foundation
import GRDB

/// A spent verification token as SQLite keeps it.
struct ExchangeRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "exchange"

  var tokenMark: Data
  var binding: Data
  var expiresAt: Int64

  init(_ exchange: TokenExchange) {
    tokenMark = exchange.tokenMark
    binding = exchange.binding
    expiresAt = exchange.expiresAt.unixSecond
  }

  /// What the row says.
  var exchange: TokenExchange {
    TokenExchange(
      tokenMark: tokenMark, binding: binding, expiresAt: Date(unixSecond: expiresAt))
  }
}
