import GRDB

extension SQLiteCodeStorage {
  /// How the database grew. Steps are only ever added.
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("codes") { database in
      try database.create(table: CodeRow.databaseTableName, options: [.withoutRowID, .strict]) {
        table in
        table.primaryKey("hash", .blob)
        table.column("reportType", .text).notNull()
        table.column("symptomOnsetInterval", .integer)
        table.column("expiresAt", .integer).notNull().indexed()
        table.column("binding", .blob)
        table.column("sealedToken", .blob)
      }
    }
    return migrator
  }
}
