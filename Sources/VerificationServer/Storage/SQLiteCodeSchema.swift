import Foundation
import GRDB
import VerificationAPI

extension SQLiteCodeStorage {
  /// How the database grew. Steps are only ever added.
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("codes") { database in
      try database.create(table: "code", options: [.withoutRowID, .strict]) { table in
        table.primaryKey("hash", .blob)
        table.column("reportType", .text).notNull()
        table.column("symptomOnsetInterval", .integer)
        table.column("expiresAt", .integer).notNull().indexed()
        table.column("binding", .blob)
        table.column("sealedToken", .blob)
      }
    }
    migrator.registerMigration("two contracts") { database in
      try createIssues(database)
      try createMarks(database)
      try moveCodes(database)
    }
    return migrator
  }

  /// A code may have two spellings, that which is told and that in a link, and is used up once.
  private static func createIssues(_ database: Database) throws {
    try database.create(table: "issue", options: .strict) { table in
      table.primaryKey("id", .integer)
      table.column("handle", .blob).unique()
      table.column("issuer", .text)
      table.column("testType", .text).notNull()
      table.column("symptomDay", .integer)
      table.column("testDay", .integer)
      table.column("nonceMark", .blob)
      table.column("phoneMark", .blob)
      table.column("expiresAt", .integer).notNull()
      table.column("longExpiresAt", .integer).notNull()
      table.column("endsAt", .integer).notNull().indexed()
      table.column("binding", .blob)
      table.column("sealedToken", .blob)
      table.column("tokenMark", .blob)
    }
    try database.create(table: "spelling", options: [.withoutRowID, .strict]) { table in
      table.primaryKey("hash", .blob)
      table.column("issue", .integer).notNull().indexed()
        .references("issue", onDelete: .cascade)
      table.column("expiresAt", .integer).notNull().indexed()
    }
  }

  private static func createMarks(_ database: Database) throws {
    try database.create(table: "exchange", options: [.withoutRowID, .strict]) { table in
      table.primaryKey("tokenMark", .blob)
      table.column("binding", .blob).notNull()
      table.column("expiresAt", .integer).notNull().indexed()
    }
    try database.create(table: "report", options: [.withoutRowID, .strict]) { table in
      table.primaryKey("phoneMark", .blob)
      table.column("freeAt", .integer).notNull().indexed()
      table.column("freeAtWhenClaimed", .integer).notNull()
    }
    try database.create(table: "apiKey", options: [.withoutRowID, .strict]) { table in
      table.primaryKey("id", .text)
      table.column("kind", .text).notNull()
      table.column("name", .text).notNull()
      table.column("mark", .blob).notNull()
      table.column("createdAt", .integer).notNull()
      table.column("revokedAt", .integer)
    }
  }

  /// The codes of the first schema, live and used: whoever waits for an answer still gets it.
  private static func moveCodes(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TEMPORARY TABLE moved AS
          SELECT row_number() OVER (ORDER BY hash) AS id, * FROM code;
        INSERT INTO issue (id, testType, symptomDay, expiresAt, longExpiresAt, endsAt, binding,
            sealedToken)
          SELECT id, reportType, symptomOnsetInterval / 144, expiresAt, expiresAt, expiresAt, binding,
            sealedToken FROM moved;
        INSERT INTO spelling (hash, issue, expiresAt) SELECT hash, id, expiresAt FROM moved;
        DROP TABLE moved;
        DROP TABLE code;
        """)
  }
}

/// An issued code as SQLite keeps it, whatever its spellings. Times are whole Unix seconds, days are
/// counted from 1970.
struct IssueRow: Codable, FetchableRecord, MutablePersistableRecord, Sendable {
  static let databaseTableName = "issue"

  var id: Int64?
  var handle: Data?
  var issuer: String?
  var testType: String
  var symptomDay: Int?
  var testDay: Int?
  var nonceMark: Data?
  var phoneMark: Data?
  var expiresAt: Int64
  var longExpiresAt: Int64
  var endsAt: Int64
  var binding: Data?
  var sealedToken: Data?
  var tokenMark: Data?

  /// The row of a code that has not been used.
  init(_ code: IssuedCode) {
    handle = code.handle.map(\.data)
    issuer = code.issuer?.text
    testType = code.finding.testType.rawValue
    symptomDay = code.finding.symptomDay?.number
    testDay = code.finding.testDay?.number
    nonceMark = code.nonceMark
    phoneMark = code.phoneMark
    expiresAt = code.expiresAt.unixSecond
    longExpiresAt = code.longExpiresAt.unixSecond
    endsAt = max(expiresAt, longExpiresAt)
  }

  mutating func didInsert(_ inserted: InsertionSuccess) {
    id = inserted.rowID
  }

  /// What was found; a kind of test that this version does not know reads as a positive test would not:
  /// as nothing.
  var finding: Finding? {
    TestType(rawValue: testType).map {
      Finding(
        testType: $0, symptomDay: symptomDay.map { CalendarDay(number: $0) },
        testDay: testDay.map { CalendarDay(number: $0) })
    }
  }

  /// How the code was used up, where it was.
  var redemption: Redemption? {
    get {
      guard let binding, let sealedToken else { return nil }
      return Redemption(
        binding: binding, sealedToken: SealedToken(bytes: sealedToken), tokenMark: tokenMark)
    }
    set {
      binding = newValue?.binding
      sealedToken = newValue?.sealedToken.bytes
      tokenMark = newValue?.tokenMark
    }
  }

  /// What became of it. Only its ends are ever set.
  var fate: CodeFate {
    get {
      CodeFate(
        isClaimed: binding != nil, expiresAt: Date(unixSecond: expiresAt),
        longExpiresAt: Date(unixSecond: longExpiresAt), issuer: issuer.map { ApiKeyID(text: $0) })
    }
    set {
      expiresAt = newValue.expiresAt.unixSecond
      longExpiresAt = newValue.longExpiresAt.unixSecond
    }
  }

  /// The row of that handle.
  static func of(_ handle: UUID, in database: Database) throws -> IssueRow? {
    try filter(Column("handle") == handle.data).fetchOne(database)
  }
}

extension UUID {
  /// Its sixteen bytes.
  fileprivate var data: Data { withUnsafeBytes(of: uuid) { Data($0) } }
}

/// One spelling of an issued code as SQLite keeps it: the PIN, the short code, or the one in the link.
struct SpellingRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "spelling"

  var hash: Data
  var issue: Int64
  var expiresAt: Int64

  /// The row of that hash.
  static func of(_ hash: CodeHash, in database: Database) throws -> SpellingRow? {
    try fetchOne(database, key: hash.bytes)
  }

  /// The spellings that are live at `now`.
  static func live(at now: Date) -> QueryInterfaceRequest<SpellingRow> {
    filter(Column("expiresAt") >= now.unixSecond)
  }
}

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

/// A phone that reported a test of its own, as SQLite keeps it: a mark, never the number.
struct ReportRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "report"

  var phoneMark: Data
  /// The second from which it may report again.
  var freeAt: Int64
  /// The second from which it may where its code is used.
  var freeAtWhenClaimed: Int64

  init(_ report: PhoneReport) {
    phoneMark = report.phoneMark
    freeAt = report.freeAt.unixSecond
    freeAtWhenClaimed = report.freeAtWhenClaimed.unixSecond
  }

  /// What the row says.
  var report: PhoneReport {
    PhoneReport(
      phoneMark: phoneMark, freeAt: Date(unixSecond: freeAt),
      freeAtWhenClaimed: Date(unixSecond: freeAtWhenClaimed))
  }

  /// The row of that phone.
  static func of(_ phoneMark: Data, in database: Database) throws -> ReportRow? {
    try fetchOne(database, key: phoneMark)
  }
}

/// An API key as SQLite keeps it.
struct ApiKeyRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "apiKey"

  var id: String
  var kind: String
  var name: String
  var mark: Data
  var createdAt: Int64
  var revokedAt: Int64?

  init(_ key: ApiKeyRecord) {
    id = key.id.text
    kind = key.kind.rawValue
    name = key.name
    mark = key.mark
    createdAt = key.createdAt.unixSecond
    revokedAt = key.revokedAt?.unixSecond
  }

  /// What the row says; nil where its kind is not one of ours.
  var record: ApiKeyRecord? {
    ApiKeyKind(rawValue: kind).map {
      ApiKeyRecord(
        id: ApiKeyID(text: id), kind: $0, name: name, mark: mark,
        createdAt: Date(unixSecond: createdAt), revokedAt: revokedAt.map { Date(unixSecond: $0) })
    }
  }
}
