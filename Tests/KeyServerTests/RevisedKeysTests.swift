// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import GRDB
import KeyServerAPI
import TestSupport
import Testing

@testable import KeyServer

@Suite("Revised keys in key files")
struct RevisedKeysTests {
  /// Revises a key directly in the database.
  private func revise(
    _ key: String, to type: ReportType, at date: Date, in server: RunningKeyServer
  ) throws {
    try server.change(
      """
      UPDATE diagnosis_key SET revised_report_type = ?, revised_transmission_risk = 3,
        revised_days_since_onset = 2, revised_released_at = ? WHERE key_data = ?
      """, [type.rawValue, Int64(date.timeIntervalSince1970), Data(base64Encoded: key)])
    try server.inDatabase { try SQLiteKeyStore.renewChecksums(in: $0) }
  }

  @Test(
    "A key that is revised after its publication is in the next file's revised keys"
  )
  func afterPublication() async throws {
    try await RunningKeyServer.run { server in
      let sent = try await server.uploadKeys(3).sorted()
      try await server.exportPeriod()
      let before = try await server.published(#require(try await server.lines().first))
      try revise(sent[0], to: .revoked, at: server.clock.now, in: server)
      try revise(sent[1], to: .confirmedTest, at: server.clock.now, in: server)
      try await server.exportPeriod()
      let lines = try await server.lines()
      try #require(lines.count == 2)
      let file = try await server.published(lines[1])
      #expect(file.keys.isEmpty)
      let revised = Dictionary(uniqueKeysWithValues: file.revisedKeys.map { ($0.text, $0) })
      #expect(Set(revised.keys) == Set(sent.prefix(2)))
      #expect(revised[sent[0]]?.reportType == .revoked)
      #expect(revised[sent[1]]?.reportType == .confirmedTest)
      #expect(revised[sent[1]]?.daysSinceOnsetOfSymptoms == 2)
      #expect(revised[sent[1]]?.transmissionRiskLevel == 3)
      // The earlier file, written again, is unchanged.
      try server.loseFiles()
      try await server.server.exportDue()
      let again = try await server.allPublished()
      #expect(again.map(\.keys) == [before.keys, []])
      #expect(again.map(\.revisedKeys) == [[], file.revisedKeys])
    }
  }

  @Test(
    "A key that is revised before its publication is published with its new type, or not at all")
  func beforePublication() async throws {
    try await RunningKeyServer.run({ ($0.minimumKeys, $0.paddingRange) = (0, 0) }) { server in
      let sent = try await server.uploadKeys(3).sorted()
      try revise(sent[0], to: .revoked, at: server.clock.now, in: server)
      try revise(sent[1], to: .selfReport, at: server.clock.now, in: server)
      try await server.exportPeriod()
      let file = try await server.published(#require(try await server.lines().first))
      #expect(file.texts == Set(sent.dropFirst()))
      #expect(file.revisedKeys.isEmpty)
      #expect(file.keys.first { $0.text == sent[1] }?.reportType == .selfReport)
      #expect(file.keys.first { $0.text == sent[2] }?.reportType == .confirmedTest)
    }
  }

  @Test("A revised key of another region is not in the file")
  func otherRegion() async throws {
    try await RunningKeyServer.run { server in
      let polish = try await server.uploadKeys(1).sorted()
      let czech = try await server.uploadKeys(1, regions: ["CZ"]).sorted()
      try await server.exportPeriod()
      for key in polish + czech {
        try revise(key, to: .revoked, at: server.clock.now, in: server)
      }
      try await server.exportPeriod()
      let file = try await server.published(#require(try await server.lines().dropFirst().first))
      #expect(file.revisedKeys.map(\.text) == polish)
    }
  }

  @Test("A revision by an app with more regions does not add regions to the key")
  func otherApp() async throws {
    var czech = ExportConfiguration(filenameRoot: "cz", region: "CZ")
    (czech.minimumKeys, czech.paddingRange) = (0, 0)
    try await RunningKeyServer.run({
      ($0.minimumKeys, $0.paddingRange) = (0, 0)
      $0.furtherExports = [czech]
      $0.apps = ["PL", "CZ"].map { region in
        AuthorizedApp(
          id: "app.\(region)", regions: region == "PL" ? ["PL"] : ["PL", "CZ"],
          authorities: ["codes"])
      }
    }) { server in
      let scene = PublishScene(server: server)
      func publish(_ keys: [PublishKey], as type: String, app: String, token: String? = nil)
        async throws -> Published
      {
        let certificate = try scene.certificate(keys) { $0.reportType = type }
        return try await scene.publish(
          scene.request(keys, certificate: certificate, token: token) {
            ($0.healthAuthorityID, $0.traveler) = (app, app == "app.CZ")
          })
      }
      let old = scene.keys(2)
      let first = try await publish(old, as: "likely", app: "app.PL")
      try await server.exportPeriod()
      let before = try await server.allPublished().map(\.keys)
      let new = Array(scene.keys(3).suffix(1))
      let second = try await publish(
        old + new, as: "confirmed", app: "app.CZ", token: first.body.revisionToken)
      #expect(second.status == 200 && second.body.insertedExposures == 1)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key WHERE travels") == 1)
      try await server.exportPeriod()
      let polish = try await server.published(#require(try await server.lines().last))
      #expect(Set(polish.revisedKeys.map(\.text)) == Set(old.map(\.key)))
      #expect(polish.texts == Set(new.map(\.key)))
      let there = try await server.allPublished(of: "cz")
      #expect(there.map(\.texts) == [Set(new.map(\.key))])
      #expect(there.allSatisfy { $0.revisedKeys.isEmpty })
      // Files of closed periods are unchanged in both regions.
      try server.loseFiles()
      try await server.server.exportDue()
      #expect(try await server.allPublished().first?.keys == before.first)
      #expect(try await server.allPublished(of: "cz").map(\.texts) == [Set(new.map(\.key))])
    }
  }

  @Test("A key is kept as long as the file with its revision")
  func retention() async throws {
    try await RunningKeyServer.run { server in
      let sent = try await server.uploadKeys(1).sorted()
      try await server.exportPeriod()
      server.clock.advance(by: 10 * 86_400)
      try await server.server.exportDue()
      try revise(sent[0], to: .revoked, at: server.clock.now, in: server)
      try await server.exportPeriod()
      server.clock.advance(by: 10 * 86_400)
      try await server.server.exportDue()
      try await server.server.removeOld()
      try server.loseFiles()
      try await server.server.exportDue()
      #expect(try await server.allPublished().map { $0.revisedKeys.map(\.text) } == [sent])
    }
  }
}
