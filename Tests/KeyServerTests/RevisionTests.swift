// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import KeyServerAPI
import TestSupport
import Testing

@Suite("Revisions of published keys")
struct RevisionTests {
  private func run(
    _ change: (inout KeyServerConfiguration) -> Void = { _ in },
    _ body: (PublishScene) async throws -> Void
  ) async throws {
    try await RunningKeyServer.run(change) { try await body(PublishScene(server: $0)) }
  }

  @Test("A stored key can only be revised with the revision token of its upload")
  func tokenIsNeeded() async throws {
    try await run { scene in
      let keys = scene.keys(3)
      let token = try await scene.publish(keys, as: "likely").body.revisionToken
      let foreign = try await scene.publish(scene.keys(2), as: "likely").body.revisionToken
      let none = try await scene.publish(keys, as: "confirmed")
      #expect((none.status, none.code) == (400, .missingRevisionToken))
      for bad in ["rubbish", "AAAA", foreign] {
        let response = try await scene.publish(keys, as: "confirmed", token: bad)
        #expect((response.status, response.code) == (400, .invalidRevisionToken))
      }
      #expect(try scene.server.count(Self.revised) == 0)
      let good = try await scene.publish(keys, as: "confirmed", token: token)
      #expect((good.status, good.code) == (200, nil))
      #expect(try scene.server.count(Self.revised) == 3)
    }
  }

  @Test("A revision token covers a key with its interval data only")
  func intervalData() async throws {
    try await run { scene in
      var keys = scene.keys(1)
      let token = try await scene.publish(keys, as: "likely").body.revisionToken
      keys[0].rollingPeriod = 100
      let response = try await scene.publish(keys, as: "confirmed", token: token)
      #expect(response.code == .invalidRevisionToken)
    }
  }

  @Test("An unreadable token is ignored if no key needs it")
  func unneededToken() async throws {
    try await run { scene in
      let response = try await scene.publish(scene.keys(2), as: "likely", token: "rubbish")
      #expect(response.status == 200)
    }
  }

  @Test(
    "A change of the report type is accepted if it is allowed, and rejected with 400 otherwise",
    arguments: ["confirmed", "likely", "user-report"],
    ["confirmed", "likely", "negative", "user-report"])
  func transitions(_ old: String, _ new: String) async throws {
    try await run { scene in
      let keys = scene.keys(2)
      let token = try await scene.publish(keys, as: old).body.revisionToken
      let response = try await scene.publish(keys, as: new, token: token)
      let allowed = [
        "likely": ["confirmed", "negative"], "user-report": ["confirmed", "likely", "negative"],
      ]
      let isAllowed = old == new || allowed[old]?.contains(new) == true
      #expect(response.status == (isAllowed ? 200 : 400))
      #expect(response.code == (isAllowed ? nil : .invalidReportTypeTransition))
      #expect(try scene.server.count(Self.revised) == (isAllowed && old != new ? 2 : 0))
    }
  }

  @Test(
    "A missing report type counts as likely", arguments: ["NULL", "0"],
    ["confirmed", "likely", "negative", "user-report"])
  func neverStated(_ stored: String, _ new: String) async throws {
    try await run { scene in
      let keys = scene.keys(2)
      let token = try await scene.publish(keys, as: "likely").body.revisionToken
      try scene.server.change("UPDATE diagnosis_key SET report_type = \(stored)")
      let response = try await scene.publish(keys, as: new, token: token)
      let isAllowed = new != "user-report"
      #expect(response.status == (isAllowed ? 200 : 400))
      #expect(response.code == (isAllowed ? nil : .invalidReportTypeTransition))
      #expect(
        try scene.server.count(Self.revised) == (["confirmed", "negative"].contains(new) ? 2 : 0))
    }
  }

  @Test("A key can be revised once; the same revision again changes nothing")
  func once() async throws {
    try await run { scene in
      let keys = scene.keys(2)
      let first = try await scene.publish(keys, as: "user-report").body.revisionToken
      let second = try await scene.publish(keys, as: "likely", token: first).body.revisionToken
      #expect(try await scene.publish(keys, as: "likely", token: second).status == 200)
      let third = try await scene.publish(keys, as: "confirmed", token: second)
      #expect((third.status, third.code) == (400, .keyAlreadyRevised))
    }
  }

  @Test("A negative report for unknown keys is ignored")
  func negativeOfUnknown() async throws {
    try await run { scene in
      let response = try await scene.publish(scene.keys(3), as: "negative")
      #expect((response.status, response.body.insertedExposures) == (200, 0))
      #expect(try scene.server.count("SELECT count(*) FROM diagnosis_key") == 0)
    }
  }

  @Test("The new token covers the old keys and the new ones")
  func union() async throws {
    try await run { scene in
      let old = Array(scene.keys(2))
      let first = try await scene.publish(old, as: "likely").body.revisionToken
      scene.server.clock.advance(by: 2 * 86_400)
      let new = Array(scene.keys(1))
      let second = try await scene.publish(new, as: "likely", token: first).body.revisionToken
      #expect(try await scene.publish(old + new, as: "confirmed", token: second).status == 200)
      #expect(try scene.server.count(Self.revised) == 3)
    }
  }

  @Test(
    "If partial revisions are allowed, keys that the token does not cover are dropped")
  func partial() async throws {
    try await run({ $0.publish.allowsPartialRevisions = true }) { scene in
      let (mine, others) = (scene.keys(1), Array(scene.keys(2).suffix(1)))
      let token = try await scene.publish(mine, as: "likely").body.revisionToken
      try await scene.publish(others, as: "likely")
      let response = try await scene.publish(mine + others, as: "confirmed", token: token)
      #expect(response.status == 200)
      #expect(try scene.server.count(Self.revised) == 1)
    }
  }

  @Test(
    "An upload of new and stored keys is accepted if the token covers the stored ones, else rejected whole"
  )
  func mixed() async throws {
    try await run { scene in
      let all = "SELECT count(*) FROM diagnosis_key"
      let keys = scene.keys(3)
      let known = Array(keys.suffix(1))
      let token = try await scene.publish(known, as: "likely").body.revisionToken
      let refused = try scene.request(
        keys, certificate: scene.certificate(keys) { $0.reportType = "confirmed" })
      #expect(try await scene.publish(refused).code == .missingRevisionToken)
      #expect(try scene.server.count(all) == 1)
      // The rejected request did not use up the certificate.
      var allowed = refused
      allowed.revisionToken = token
      let response = try await scene.publish(allowed)
      #expect((response.status, response.body.insertedExposures) == (200, 2))
      #expect(try scene.server.count(all) == 3)
      #expect(try scene.server.count(Self.revised) == 1)
    }
  }

  @Test("A revised key keeps its first report type, and its revision is released at the full hour")
  func stored() async throws {
    try await run { scene in
      let keys = scene.keys(1, risk: nil)
      let token = try await scene.publish(keys, as: "likely").body.revisionToken
      try await scene.publish(keys, as: "negative", token: token)
      let noon = Int(RunningKeyServer.start.timeIntervalSince1970)
      #expect(
        try scene.server.count(
          """
          SELECT count(*) FROM diagnosis_key WHERE report_type = 2 AND transmission_risk = 4
            AND revised_report_type = 5 AND revised_transmission_risk = 6
            AND revised_released_at = \(noon)
          """) == 1)
    }
  }

  @Test(
    "Keys of revision tokens are replaced after 168 hours and removed 360 hours later"
  )
  func sealingKeys() async throws {
    try await run { scene in
      try await scene.publish(scene.keys(1), as: "likely")
      let first = "SELECT count(*) FROM revision_key"
      #expect(try scene.server.count(first) == 1)
      scene.server.clock.advance(by: 168 * 3_600 - 1)
      try await scene.publish(scene.keys(1), as: "likely")
      #expect(try scene.server.count(first) == 1)
      scene.server.clock.advance(by: 61)
      let keys = scene.keys(1)
      let token = try await scene.publish(keys, as: "likely").body.revisionToken
      #expect(try scene.server.count(first) == 2)
      scene.server.clock.advance(by: 168 * 3_600)
      #expect(try await scene.publish(keys, as: "confirmed", token: token).status == 200)
      #expect(try scene.server.count(first) == 3)
      scene.server.clock.advance(by: 200 * 3_600)
      try await scene.publish(scene.keys(1), as: "likely")
      // The first two keys' successors are 368 and 200 hours old.
      #expect(try scene.server.count(first) == 3)
    }
  }

  private static let revised =
    "SELECT count(*) FROM diagnosis_key WHERE revised_report_type IS NOT NULL"
}
