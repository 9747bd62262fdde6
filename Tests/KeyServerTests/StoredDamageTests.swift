// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import Foundation
import GRDB
import KeyServerAPI
import ServerStorage
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite("A key server whose data is damaged")
struct StoredDamageTests {
  @Test(
    "A stored key with one changed value is not published, and reported; the others are",
    arguments: [
      "key_data = CAST(substr(key_data, 2) || substr(key_data, 1, 1) AS BLOB)",
      "rolling_start = rolling_start + 144",
      "rolling_period = rolling_period - 1", "transmission_risk = transmission_risk - 1",
      "report_type = report_type + 1",
      "is_padding = 1", "checksum = checksum + 1", "released_at = released_at + 1",
    ])
  func changedRow(change: String) async throws {
    let column = change.prefix { $0 != " " }
    try await RunningKeyServer.run({ ($0.minimumKeys, $0.paddingRange) = (0, 0) }) { server in
      // The check at the start would report that there is no fault.
      try await server.untilIdle()
      let sent = try await server.uploadKeys(3).sorted()
      let victim = try #require(Data(base64Encoded: sent[1]))
      try server.change(
        "UPDATE diagnosis_key SET \(change) WHERE key_data = ? AND \(column) IS NOT NULL", [victim])
      try await server.exportPeriod()
      let published = try await server.allPublished().flatMap(\.keys).map(\.text)
      #expect(Set(published) == Set(sent).subtracting([sent[1]]), "\(change)")
      #expect(server.server.faults.count == 1)
      #expect(server.server.faults.first?.contains("keys are damaged") == true)
    }
  }

  @Test("A revision with a changed value is not published")
  func changedRevision() async throws {
    try await RunningKeyServer.run({ ($0.minimumKeys, $0.paddingRange) = (0, 0) }) { server in
      let scene = PublishScene(server: server)
      let keys = scene.keys(2)
      let token = try await scene.publish(keys, as: "likely").body.revisionToken
      try await server.exportPeriod()
      #expect(try await scene.publish(keys, as: "confirmed", token: token).status == 200)
      try server.change(
        "UPDATE diagnosis_key SET revised_report_type = 5 WHERE key_data = ?",
        [Data(base64Encoded: keys[0].key)])
      try await server.exportPeriod()
      let revised = try await server.allPublished().flatMap(\.revisedKeys).map(\.text)
      #expect(revised == [keys[1].key])
    }
  }

  @Test("The check of all stored data finds a changed key before it is exported")
  func check() async throws {
    try await RunningKeyServer.run { server in
      try await server.untilIdle()
      _ = try await server.uploadKeys(3)
      await server.server.checkStoredData()
      #expect(server.server.faults.isEmpty)
      try server.change("UPDATE diagnosis_key SET transmission_risk = 1")
      await server.server.checkStoredData()
      #expect(server.server.faults.count == 1)
    }
  }

  @Test("A listed file that someone removes is written again within a minute")
  func removedFile() async throws {
    try await RunningKeyServer.run { server in
      _ = try await server.uploadKeys()
      try await server.exportPeriod()
      let lines = try await server.lines()
      try server.loseFiles()
      try await Patience.until {
        server.clock.advance(by: KeyServerLimit.exportRetrySeconds)
        return try await server.lines() != lines
      }
      let again = try await server.lines()
      #expect(again.count == 1 && again != lines)
      #expect(try await server.get("/" + (again.first ?? "")).status == 200)
    }
  }

  @Test("A file with one changed byte is written again by the next export")
  func changedFile() async throws {
    try await RunningKeyServer.run { server in
      let sent = try await server.uploadKeys()
      try await server.exportPeriod()
      let name = try #require(try await server.listed().first)
      let file = server.configuration.exportFolder.appendingPathComponent(name.text)
      var bytes = try Data(contentsOf: file)
      bytes[bytes.count / 3] ^= 1
      try bytes.write(to: file)
      try await server.server.exportDue()
      // Caches may have the earlier file under its name.
      let again = try #require(try await server.editions(of: name).first)
      #expect(again != name)
      #expect(try await server.published(again.text).texts.isSuperset(of: sent))
      #expect(try await server.get("/\(name.text)").status == 404)
    }
  }

  @Test(
    "A written file is verified before it is listed: a changed byte and a missing key are found")
  func verified() async throws {
    let folder = try TemporaryFolder()
    let signer = try KeyFileSigner(
      privateKeyPEM: Authority().exportKeys[0].pemRepresentation, keyID: "260", keyVersion: "v1")
    let keys = try (1...3).map { try StoreScene.key(UInt8($0)).key }
    let file = folder.path("file.zip")
    try KeyFileWriter.write(
      to: file, start: 1_599_955_200, end: 1_599_969_600, region: "PL", keys: keys,
      signers: [signer])
    let checks = FileChecks()
    let hash = try await checks.verify(file, as: "file.zip", by: [signer], count: 3)
    #expect(await checks.isIntact(file, sha256: hash))
    for count in [2, 4] {
      await #expect(throws: KeyServerError.self) {
        _ = try await checks.verify(file, as: "file.zip", by: [signer], count: count)
      }
    }
    let whole = try Data(contentsOf: file)
    for place in stride(from: 0, to: whole.count, by: 7) {
      var changed = whole
      changed[place] ^= 1
      try AtomicFile.write(changed, to: file)
      #expect(!(await checks.isIntact(file, sha256: hash)), "\(place)")
    }
  }

  @Test("After the database file is deleted or replaced, no upload is acknowledged")
  func deletedDatabase() async throws {
    for replaced in [false, true] {
      try await RunningKeyServer.run { server in
        let file = server.configuration.databaseFile
        _ = try await server.uploadKeys()
        let kept = file.appendingPathExtension("kept")
        try FileManager.default.moveItem(at: file, to: kept)
        if replaced { try FileManager.default.copyItem(at: kept, to: file) }
        let request = try await server.request(server.keys())
        #expect(try await server.upload(request).status == 503)
        try await Patience.until {
          server.clock.advance(by: KeyServerLimit.exportRetrySeconds)
          return server.server.faults.contains { $0.contains("deleted or replaced") }
        }
        #expect(server.server.faults.contains { $0.contains("deleted or replaced") })
      }
    }
  }

  @Test("With a damaged database uploads are refused, and published files are still served")
  func damagedStructure() async throws {
    try await RunningKeyServer.run { server in
      _ = try await server.uploadKeys(14)
      try await server.exportPeriod()
      let lines = try await server.lines()
      // The log cannot be reset while the server reads.
      try await server.untilIdle()
      try overwriteRootPage(of: server.configuration.databaseFile)
      // A transaction of another connection empties the caches.
      try server.change("UPDATE server_state SET confirmed_time = NULL")
      await server.server.checkStoredData()
      #expect(server.server.faults.contains { $0.contains("database is damaged") })
      let request = try await server.request(server.keys())
      #expect(try await server.upload(request).status == 503)
      #expect(try await server.get("/" + lines[0]).status == 200)
    }
  }

  /// Overwrites the beginning of the first page of the keys.
  private func overwriteRootPage(of database: URL) throws {
    let queue = try DatabaseQueue(waitingAt: database.path)
    let page = try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
      return try Int.fetchOne(
        db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'diagnosis_key'")
    }
    let file = try FileHandle(forUpdating: database)
    try file.seek(toOffset: UInt64(((page ?? 1) - 1) * SQLiteLimit.pageBytes))
    try file.write(contentsOf: Data(count: 64))
    try file.close()
  }
}
