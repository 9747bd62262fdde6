import Crypto
import Foundation
import GRDB
import KeyServerAPI
import TestSupport
import Testing

@testable import KeyServer

/// servers.md 5, where the defect belongs to no suite of its own.
@Suite("Servers 5: defects of an export and of an answer that must not come back")
struct DefectTests {
  @Test("5.13 Where no revision token can be sealed it is 503, and nothing is kept or spent")
  func sealing() async throws {
    let wrappingKey = Data(repeating: 7, count: 32)
    try await RunningKeyServer.run({ $0.publish.wrappingKey = wrappingKey }) { server in
      let scene = PublishScene(server: server)
      // A sealing key of seven bytes: it can be opened, and seals nothing.
      let useless = try SealedRevisionKey(
        id: "useless", SymmetricKey(data: Data(count: 7)),
        under: SymmetricKey(data: wrappingKey), effectiveFrom: server.clock.now)
      try server.change(
        "INSERT INTO revision_key (key_id, sealed, effective_from) VALUES (?, ?, ?)",
        [useless.id, useless.sealed, useless.effectiveFrom.wholeSeconds])
      let request = try scene.request(scene.keys(2))
      let answer = try await scene.publish(request)
      #expect((answer.status, answer.code) == (503, .internalError))
      #expect(answer.http.headers["retry-after"] == "30")
      #expect(answer.body.revisionToken == nil && answer.body.insertedExposures == nil)
      for table in ["upload", "diagnosis_key", "statistic"] {
        #expect(try server.count("SELECT count(*) FROM \(table)") == 0, "\(table)")
      }
      // With a key that seals the same certificate is still good.
      try server.change("DELETE FROM revision_key")
      server.clock.advance(by: 60)
      let again = try await scene.publish(request)
      #expect((again.status, again.body.insertedExposures) == (200, 2))
      #expect(again.body.revisionToken?.isEmpty == false)
    }
  }

  /// The lock is the system's (`FolderLock`): there is no lease in a table that would have to run out.
  @Test(
    "5.14 An index that cannot be written leaves nothing locked: the next export goes on at once",
    .timeLimit(.minutes(Patience.minutes)))
  func indexFails() async throws {
    try await RunningKeyServer.run { server in
      _ = try await server.uploadKeys()
      // A folder in its place: the key file can be written, and its line cannot.
      let index = server.configuration.exportFolder.appendingPathComponent("index.txt")
      try? FileManager.default.removeItem(at: index)
      try FileManager.default.createDirectory(at: index, withIntermediateDirectories: true)
      await #expect(throws: KeyServerError.unavailable) { try await server.exportPeriod() }
      let isFree = try await FolderLock.holding(server.configuration.exportFolder) { true }
      #expect(isFree)
      try FileManager.default.removeItem(at: index)
      try await server.server.exportDue()
      #expect(try await server.lines().count == 1)
    }
  }
}
