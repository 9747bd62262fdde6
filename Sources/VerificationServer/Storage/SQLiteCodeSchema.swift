// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage
import VerificationAPI
import World

extension SQLiteCodeStorage {
  /// The schema. Later versions append migrations and never change released ones.
  static let schema = DatabaseSchema(name: "code database", migrations: makeMigrations())

  private static func makeMigrations() -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("schema 1") { database in
      try createCodeTables(database)
      try createTokenTables(database)
      try createAPIKeyTable(database)
      try createCountTable(database)
      try database.execute(sql: ServerState.table)
    }
    migrator.registerMigration("schema 2", migrate: createIssuerCountTable)
    migrator.registerMigration("schema 3", migrate: createAttemptCountTable)
    migrator.registerMigration("schema 4") { database in
      try database.alter(table: AttemptCount.databaseTableName) { table in
        table.add(column: "codesInvalidIOS", .integer)
        table.add(column: "codesInvalidAndroid", .integer)
      }
    }
    // Changes no table. A version without it cannot read the counts of user reports and of SMS errors.
    migrator.registerMigration("schema 5") { _ in }
    return migrator
  }

  /// An issued code has one or two hashes, those of its short and its long form, and is used once.
  private static func createCodeTables(_ database: Database) throws {
    try database.create(table: "issue", options: .strict) { table in
      table.primaryKey("id", .integer)
      table.column("handle", .blob).unique()
      table.column("issuer", .text)
      table.column("testType", .text).notNull()
      table.column("symptomDay", .integer)
      table.column("testDay", .integer)
      table.column("nonceHash", .blob)
      table.column("phoneHash", .blob)
      table.column("issuedAt", .integer).notNull()
      table.column("expiresAt", .integer).notNull()
      table.column("longExpiresAt", .integer).notNull()
      table.column("endsAt", .integer).notNull().indexed()
      table.column("binding", .blob)
      table.column("sealedToken", .blob)
      table.column("tokenIDHash", .blob)
      table.checksum()
    }
    try database.create(table: "codeHash", options: [.withoutRowID, .strict]) { table in
      table.primaryKey("hash", .blob)
      table.column("issue", .integer).notNull().indexed()
        .references("issue", onDelete: .cascade)
      table.column("form", .text)
      table.column("expiresAt", .integer).notNull()
      table.checksum()
    }
    try database.create(
      index: "codeHashByForm", on: "codeHash", columns: ["form", "expiresAt"])
  }

  private static func createTokenTables(_ database: Database) throws {
    try database.create(table: "exchange", options: [.withoutRowID, .strict]) { table in
      table.primaryKey("tokenIDHash", .blob)
      table.column("binding", .blob).notNull()
      table.column("expiresAt", .integer).notNull().indexed()
      table.checksum()
    }
    try database.create(table: "report", options: [.withoutRowID, .strict]) { table in
      table.primaryKey("phoneHash", .blob)
      table.column("freeAt", .integer).notNull().indexed()
      table.column("freeAtWhenClaimed", .integer).notNull()
    }
  }

  private static func createAPIKeyTable(_ database: Database) throws {
    try database.create(table: "apiKey", options: [.withoutRowID, .strict]) { table in
      table.primaryKey("id", .text)
      table.column("kind", .text).notNull()
      table.column("name", .text).notNull()
      table.column("hash", .blob).notNull()
      table.column("createdAt", .integer).notNull()
      table.column("revokedAt", .integer)
    }
  }

  private static func createCountTable(_ database: Database) throws {
    try database.create(table: "codeCount", options: .strict) { table in
      table.primaryKey("day", .integer)
      table.column("issued", .integer).notNull()
      table.column("claimed", .integer).notNull()
      table.column("tokensClaimed", .integer).notNull()
      table.column("claimAges", .text).notNull()
      table.column("claimSeconds", .integer).notNull()
    }
  }

  private static func createIssuerCountTable(_ database: Database) throws {
    try database.create(table: IssuerCount.databaseTableName, options: [.withoutRowID, .strict]) {
      table in
      table.column("day", .integer).notNull()
      table.column("kind", .text).notNull()
      table.column("name", .text).notNull()
      table.column("issued", .integer).notNull()
      table.primaryKey(["day", "kind", "name"])
    }
  }

  private static func createAttemptCountTable(_ database: Database) throws {
    try database.create(table: AttemptCount.databaseTableName, options: [.withoutRowID, .strict]) {
      table in
      table.column("day", .integer).notNull()
      table.column("apiKey", .text).notNull()
      table.column("codesClaimed", .integer).notNull()
      table.column("codesInvalid", .integer).notNull()
      table.column("tokensClaimed", .integer).notNull()
      table.column("tokensInvalid", .integer).notNull()
      table.primaryKey(["day", "apiKey"])
    }
  }
}

extension CodeCounts: FetchableRecord, PersistableRecord {
  static let databaseTableName = "codeCount"

  /// Changes the counts of the day of `now`.
  static func change(
    at now: Int64, in database: Database, _ change: (inout CodeCounts) -> Void
  ) throws {
    let day = day(of: now)
    var counts = try CodeCounts.fetchOne(database, key: day) ?? CodeCounts(day: day)
    change(&counts)
    try counts.save(database)
  }
}

/// An issued code. Times are whole Unix seconds, days are counted from 1970.
struct IssueRow: ChecksummedRow, Sendable {
  static let databaseTableName = "issue"

  var id: Int64
  var handle: Data?
  var issuer: String?
  var testType: String
  var symptomDay: Int?
  var testDay: Int?
  var nonceHash: Data?
  var phoneHash: Data?
  var issuedAt: Int64
  var expiresAt: Int64
  var longExpiresAt: Int64
  var endsAt: Int64
  var binding: Data?
  var sealedToken: Data?
  var tokenIDHash: Data?

  init(_ code: HashedCode, id: Int64, issuedAt now: Date) {
    self.id = id
    issuedAt = now.unixSecond
    handle = code.handle.map(\.data)
    issuer = code.issuer?.text
    testType = code.testResult.testType.rawValue
    symptomDay = code.testResult.symptomDay?.number
    testDay = code.testResult.testDay?.number
    nonceHash = code.nonceHash
    phoneHash = code.phoneHash
    expiresAt = code.expiresAt.unixSecond
    longExpiresAt = code.longExpiresAt.unixSecond
    endsAt = max(expiresAt, longExpiresAt)
  }

  /// The ID of the next row, which SQLite would choose as well. The checksum needs it before the row is stored.
  static func nextID(in database: Database) throws -> Int64 {
    try (select(max(Column("id")), as: Int64.self).fetchOne(database) ?? 0) &+ 1
  }

  /// Nil if the kind of test is unknown to this version.
  var testResult: TestResult? {
    TestType(rawValue: testType).map {
      TestResult(
        testType: $0, symptomDay: symptomDay.map { CalendarDay(number: $0) },
        testDay: testDay.map { CalendarDay(number: $0) })
    }
  }

  var redemption: Redemption? {
    get {
      guard let binding, let sealedToken else { return nil }
      return Redemption(
        binding: binding, sealedToken: SealedToken(bytes: sealedToken), tokenIDHash: tokenIDHash)
    }
    set {
      binding = newValue?.binding
      sealedToken = newValue?.sealedToken.bytes
      tokenIDHash = newValue?.tokenIDHash
    }
  }

  /// The status of the code. The setter stores only the two expiry times.
  var status: CodeStatus {
    get {
      CodeStatus(
        isClaimed: binding != nil, expiresAt: Date(unixSecond: expiresAt),
        longExpiresAt: Date(unixSecond: longExpiresAt), issuer: issuer.map { APIKeyID(text: $0) })
    }
    set {
      expiresAt = newValue.expiresAt.unixSecond
      longExpiresAt = newValue.longExpiresAt.unixSecond
    }
  }

  static func of(_ handle: UUID, in database: Database) throws -> IssueRow? {
    try filter(Column("handle") == handle.data).fetchOne(database)
  }
}

extension UUID {
  /// The 16 bytes.
  var data: Data { withUnsafeBytes(of: uuid) { Data($0) } }
}

/// A hash of an issued code: that of the PIN, the short code or the long code.
struct CodeHashRow: ChecksummedRow, Sendable {
  static let databaseTableName = "codeHash"

  var hash: Data
  var issue: Int64 = 0
  /// The form of a PIN or a short code; long codes are not counted.
  var form: String?
  var expiresAt: Int64

  init(_ hash: CodeHash, form: CodeForm?, expiresAt: Date) {
    self.hash = hash.bytes
    self.form = form?.text
    self.expiresAt = expiresAt.unixSecond
  }

  static func of(_ hash: CodeHash, in database: Database) throws -> CodeHashRow? {
    try fetchOne(database, key: hash.bytes)
  }

  /// The issued code, which is removed only together with its hashes.
  ///
  /// - Throws: `VerificationServerError.storageUnavailable` if it is damaged, or missing because its ID is damaged.
  func issued(in database: Database) throws -> IssueRow {
    guard let row = try IssueRow.fetchOne(database, key: issue) else {
      throw VerificationServerError.storageUnavailable
    }
    return row
  }

  static func live(at now: Date) -> QueryInterfaceRequest<CodeHashRow> {
    filter(Column("expiresAt") >= now.unixSecond)
  }
}

/// A verification token that was exchanged for a certificate.
struct ExchangeRow: ChecksummedRow, Sendable {
  static let databaseTableName = "exchange"

  var tokenIDHash: Data
  var binding: Data
  var expiresAt: Int64

  init(_ exchange: TokenExchange) {
    tokenIDHash = exchange.tokenIDHash
    binding = exchange.binding
    expiresAt = exchange.expiresAt.unixSecond
  }

  var exchange: TokenExchange {
    TokenExchange(
      tokenIDHash: tokenIDHash, binding: binding, expiresAt: Date(unixSecond: expiresAt))
  }
}

/// A user report, with the keyed hash of the phone number.
struct ReportRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "report"

  var phoneHash: Data
  /// The second of the next allowed report.
  var freeAt: Int64
  /// The same if the code of the report is used.
  var freeAtWhenClaimed: Int64

  init(_ report: PhoneReport) {
    phoneHash = report.phoneHash
    freeAt = report.freeAt.unixSecond
    freeAtWhenClaimed = report.freeAtWhenClaimed.unixSecond
  }

  var report: PhoneReport {
    PhoneReport(
      phoneHash: phoneHash, freeAt: Date(unixSecond: freeAt),
      freeAtWhenClaimed: Date(unixSecond: freeAtWhenClaimed))
  }

  static func of(_ phoneHash: Data, in database: Database) throws -> ReportRow? {
    try fetchOne(database, key: phoneHash)
  }
}

struct APIKeyRow: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "apiKey"

  var id: String
  var kind: String
  var name: String
  var hash: Data
  var createdAt: Int64
  var revokedAt: Int64?

  init(_ key: APIKeyRecord) {
    id = key.id.text
    kind = key.kind.rawValue
    name = key.name
    hash = key.hash
    createdAt = key.createdAt.unixSecond
    revokedAt = key.revokedAt?.unixSecond
  }

  /// Nil if the kind is unknown to this version.
  var record: APIKeyRecord? {
    APIKeyKind(rawValue: kind).map {
      APIKeyRecord(
        id: APIKeyID(text: id), kind: $0, name: name, hash: hash,
        createdAt: Date(unixSecond: createdAt), revokedAt: revokedAt.map { Date(unixSecond: $0) })
    }
  }
}
