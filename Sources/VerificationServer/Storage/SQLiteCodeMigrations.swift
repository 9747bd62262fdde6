import GRDB

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
