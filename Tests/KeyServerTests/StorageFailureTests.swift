// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import GRDB
import KeyServer
import KeyServerAPI
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite("Key server: full disks and other failures")
struct StorageFailureTests {
  @Test(
    "An upload on a full disk is rejected with 503 and accepted when there is space again",
    .needs(.smallDisk))
  func uploadOnFullDisk() async throws {
    let disk = try SmallDisk(bytes: 2 << 20)
    try await RunningKeyServer.run({
      $0.databaseFile = disk.url.appendingPathComponent("keys.sqlite")
    }) {
      server in
      #expect(try await server.upload(server.request(server.keys())).status == 200)
      let ballast = disk.fill()
      // The log may have some space left, so upload until the disk is full.
      var rejected: (request: UploadRequest, answer: ReceivedResponse)?
      var accepted = 1
      for _ in 0..<40 where rejected == nil {
        let request = try await server.request(server.keys())
        let answer = try await server.upload(request)
        if answer.status == 200 { accepted += 1 } else { rejected = (request, answer) }
      }
      let (request, answer) = try #require(rejected)
      #expect((answer.status, answer.errorStatus) == (503, "UNAVAILABLE"))
      #expect(answer.headers["retry-after"].flatMap { Int($0) } ?? 0 > 0)
      try FileManager.default.removeItem(at: ballast)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == accepted * 14)
      #expect(try server.count("SELECT count(*) FROM upload") == accepted)
      #expect(try await server.upload(request).status == 200)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == (accepted + 1) * 14)
    }
  }

  @Test(
    "A publish on a full disk is rejected with 503, and its certificate stays valid",
    .needs(.smallDisk)
  )
  func publishOnFullDisk() async throws {
    let disk = try SmallDisk(bytes: 2 << 20)
    try await RunningKeyServer.run({
      $0.databaseFile = disk.url.appendingPathComponent("keys.sqlite")
      $0.uploadAttempts = 2
    }) { server in
      let scene = PublishScene(server: server)
      #expect(try await scene.publish(scene.request(scene.keys())).status == 200)
      let ballast = disk.fill()
      var rejected: (request: PublishRequest, answer: Published)?
      var accepted = 1
      for _ in 0..<40 where rejected == nil {
        let request = try scene.request(scene.keys())
        let answer = try await scene.publish(request)
        if answer.status == 200 { accepted += 1 } else { rejected = (request, answer) }
      }
      let (request, answer) = try #require(rejected)
      #expect((answer.status, answer.code) == (503, .internalError))
      #expect(answer.http.headers["retry-after"] == "30")
      for _ in 0..<3 { #expect(try await scene.publish(request).status == 503) }
      try FileManager.default.removeItem(at: ballast)
      #expect(try server.count("SELECT count(*) FROM upload") == accepted)
      let again = try await scene.publish(request)
      #expect((again.status, again.body.insertedExposures) == (200, 14))
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") == (accepted + 1) * 14)
    }
  }

  @Test(
    "An export on a full disk leaves no file and no index line and succeeds when there is space again",
    .needs(.smallDisk))
  func exportOnFullDisk() async throws {
    let disk = try SmallDisk(bytes: 1 << 20)
    try await RunningKeyServer.run({
      $0.exportFolder = disk.url.appendingPathComponent("export")
      $0.minimumKeys = 2_000
    }) { server in
      try await server.upload(server.request(server.keys()))
      let ballast = disk.fill()
      server.clock.advance(by: 14_400)
      await #expect(throws: KeyServerError.unavailable) { try await server.server.exportDue() }
      // The server's own export writes a temporary file, too.
      try await server.untilIdle()
      #expect(try await server.listed().isEmpty)
      let left = try FileManager.default.contentsOfDirectory(
        atPath: server.configuration.exportFolder.path)
      #expect(left.filter { $0 != "index.txt" }.isEmpty)
      #expect(try server.count("SELECT count(*) FROM export_file") == 1)
      try FileManager.default.removeItem(at: ballast)
      try await server.server.exportDue()
      let names = try await server.listed()
      #expect(names.count == 1)
      #expect(try await server.downloadedKeys(try #require(names.first)).keys.count >= 2_000)
    }
  }

  @Test("If no revision token can be sealed, a publish is rejected with 503 and nothing is stored")
  func sealing() async throws {
    try await RunningKeyServer.run { server in
      let scene = PublishScene(server: server)
      // A sealing key of seven bytes can be unsealed but not used.
      let useless = try SealedRevisionKey(
        id: "useless", SymmetricKey(data: Data(count: 7)),
        under: server.configuration.databaseKeys.wrapping, effectiveFrom: server.clock.now,
        randomness: TestRandomness())
      try server.change(
        "INSERT INTO revision_key (key_id, sealed, effective_from) VALUES (?, ?, ?)",
        [useless.id, useless.sealed, useless.effectiveFrom.unixSecond])
      let request = try scene.request(scene.keys(2))
      let answer = try await scene.publish(request)
      #expect((answer.status, answer.code) == (503, .internalError))
      #expect(answer.http.headers["retry-after"] == "30")
      #expect(answer.body.revisionToken == nil && answer.body.insertedExposures == nil)
      for table in ["upload", "diagnosis_key", "statistic"] {
        #expect(try server.count("SELECT count(*) FROM \(table)") == 0, "\(table)")
      }
      // With a valid sealing key the same certificate is accepted.
      try server.change("DELETE FROM revision_key")
      server.clock.advance(by: 60)
      let again = try await scene.publish(request)
      #expect((again.status, again.body.insertedExposures) == (200, 2))
      #expect(again.body.revisionToken?.isEmpty == false)
    }
  }

}
