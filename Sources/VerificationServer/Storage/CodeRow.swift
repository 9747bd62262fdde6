import Foundation
import GRDB

/// A code as SQLite keeps it. Times are whole Unix seconds.
struct CodeRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "code"

  var hash: Data
  var reportType: String
  var symptomOnsetInterval: Int64?
  var expiresAt: Int64
  var binding: Data?
  var sealedToken: Data?

  /// The row of a code that has not been used.
  init(_ code: IssuedCode) {
    hash = code.hash.bytes
    reportType = code.finding.reportType
    symptomOnsetInterval = code.finding.symptomOnsetInterval.map(Int64.init)
    expiresAt = code.expiresAt.unixSecond
  }

  /// What the row says.
  var code: LiveCode {
    let finding = Finding(
      reportType: reportType, symptomOnsetInterval: symptomOnsetInterval.map(UInt32.init(clamping:))
    )
    return LiveCode(finding: finding, redemption: redemption)
  }

  /// How the code was used up, where it was.
  var redemption: Redemption? {
    get {
      guard let binding, let sealedToken else { return nil }
      return Redemption(binding: binding, sealedToken: SealedToken(bytes: sealedToken))
    }
    set {
      binding = newValue?.binding
      sealedToken = newValue?.sealedToken.bytes
    }
  }

  /// The row of that hash, where it is live at `now`.
  static func live(_ hash: CodeHash, at now: Date, in database: Database) throws -> CodeRow? {
    try filter(Column("hash") == hash.bytes && Column("expiresAt") >= now.unixSecond)
      .fetchOne(database)
  }

  /// The rows that are no longer live at `now`.
  static func expired(at now: Date) -> QueryInterfaceRequest<CodeRow> {
    filter(Column("expiresAt") < now.unixSecond)
  }
}

extension Date {
  fileprivate var unixSecond: Int64 { Int64(timeIntervalSince1970.rounded(.down)) }
}
