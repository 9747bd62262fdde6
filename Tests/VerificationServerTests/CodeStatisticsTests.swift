// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// GET /api/stats/….
@Suite struct CodeStatisticsTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("A code is counted when it is issued, used and exchanged, with its age; a retry is not")
  func counts() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let codes = [try await server.issue().code, try await server.issue().code]
      _ = try await server.newCode()
      server.clock.advance(by: 120)
      for _ in 0..<2 { _ = try await server.verified(codes[0]) }
      let token = try await server.verified(codes[1]).token
      let hmac = RunningServer.keyHMAC.base64EncodedString()
      for _ in 0..<2 {
        _ = try await server.post(
          VerificationRoute.certificate, #"{"token":"\#(token)","ekeyhmac":"\#(hmac)"}"#,
          headers: ["X-API-Key": server.deviceKey])
      }
      let response = try await server.get(
        VerificationRoute.statistics, headers: ["X-API-Key": server.adminKey])
      #expect(
        try JSONDecoder().decode(CodeStatisticsResponse.self, from: response.body)
          == CodeStatisticsResponse(statistics: [
            CodeStatisticsResponse.Day(
              date: "2027-01-15T00:00:00Z",
              data: CodeStatisticsResponse.Counts(
                codesIssued: 3, codesClaimed: 2, tokensClaimed: 1,
                claimAges: [0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0], claimMeanSeconds: 120))
          ]))
      #expect(response.headers["cache-control"] == "no-store")
    }
  }

  @Test("A stats key reads the numbers and issues no code; a device key does not read them")
  func keys() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let reader = ["X-API-Key": try await server.newKey(.stats)]
      #expect(try await server.get(VerificationRoute.statistics, headers: reader).status == 200)
      let request = #"{"testType":"confirmed"}"#
      #expect(
        try await server.post(VerificationRoute.issue, request, headers: reader).status == 401)
      let device = ["X-API-Key": server.deviceKey]
      #expect(try await server.get(VerificationRoute.statistics, headers: device).status == 401)
    }
  }

  private func csv(_ path: String, _ server: RunningServer) async throws -> [String] {
    let response = try await server.get(path, headers: ["X-API-Key": server.adminKey])
    #expect(response.status == 200 && response.headers["cache-control"] == "no-store")
    #expect(response.headers["content-type"] == "text/csv; charset=utf-8")
    return String(decoding: response.body, as: UTF8.self).split(separator: "\r\n").map(String.init)
  }

  private func issuers(
    _ path: String, _ server: RunningServer
  ) async throws -> [IssuerStatisticsResponse.Day] {
    let response = try await server.get(path, headers: ["X-API-Key": server.adminKey])
    try #require(response.status == 200)
    return try JSONDecoder().decode(IssuerStatisticsResponse.self, from: response.body).statistics
  }

  /// Issues codes, with the name of an external issuer.
  private func issue(
    _ count: Int, for name: String?, key: String? = nil, _ server: RunningServer
  ) async throws {
    var request = IssueRequest(testType: "likely")
    request.externalIssuerID = name
    let body = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
    for _ in 0..<count {
      let response = try await server.post(
        VerificationRoute.issue, body, headers: ["X-API-Key": key ?? server.adminKey])
      try #require(response.status == 200)
    }
  }

  @Test("The numbers of a realm are CSV as well, with the fields of the contract")
  func realmCSV() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let path = VerificationRoute.csv(of: VerificationRoute.statistics)
      let header =
        "date,codes_issued,codes_claimed,codes_invalid,tokens_claimed,tokens_invalid,"
        + "code_claim_mean_age_seconds,code_claim_age_distribution,user_reports_issued,"
        + "user_reports_claimed,user_report_tokens_claimed,codes_invalid_unknown_os,"
        + "codes_invalid_ios,codes_invalid_android,user_reports_invalid_nonce"
      #expect(path == "/api/stats/realm.csv")
      #expect(try await csv(path, server) == [header])
      let code = try await server.issue().code
      server.clock.advance(by: 61)
      _ = try await server.verified(code)
      #expect(
        try await csv(path, server) == [
          header, "2027-01-15,1,1,,0,,61,0|1|0|0|0|0|0|0|0|0|0,,,,,,,",
        ])
      #expect(try await server.get(path).status == 401)
    }
  }

  @Test("Issuers are shown when their day is over, with numbers rounded down, and small ones never")
  func issuers() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      try await issue(23, for: "clinic, north", server)
      try await issue(9, for: "village", server)
      try await issue(1, for: nil, server)
      let path = VerificationRoute.externalIssuerStatistics
      #expect(try await issuers(path, server).isEmpty)
      server.clock.advance(by: 86_400)
      try await issue(10, for: "=1+1", server)
      var clinic = IssuerStatisticsResponse.Issuer(codesIssued: 20)
      clinic.externalIssuer = "clinic, north"
      let first = IssuerStatisticsResponse.Day(date: "2027-01-15T00:00:00Z", issuers: [clinic])
      #expect(try await issuers(path, server) == [first])
      server.clock.advance(by: 86_400)
      let lines = try await csv(VerificationRoute.csv(of: path), server)
      #expect(
        lines == [
          "date,realm_id,issuer_id,codes_issued", "2027-01-16,1,'=1+1,10",
          #"2027-01-15,1,"clinic, north",20"#,
        ])
      #expect(try await issuers(VerificationRoute.userStatistics, server).isEmpty)
    }
    // A restart keeps them.
    try await RunningServer.run(in: folder.url) { server async throws in
      server.clock.advance(by: 2 * 86_400)
      #expect(try await issuers(VerificationRoute.externalIssuerStatistics, server).count == 2)
    }
  }

  @Test("The external issuers of the console's key are the users of the realm")
  func users() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let key = try await server.apiKeys().add(kind: .admin, name: APIKeys.consoleName)
      try await issue(10, for: "Anna Lis", key: key, server)
      server.clock.advance(by: 86_400)
      let path = VerificationRoute.userStatistics
      #expect(
        try await csv(VerificationRoute.csv(of: path), server) == [
          "date,realm_id,name,codes_issued", "2027-01-15,1,Anna Lis,10",
        ])
      #expect(try await issuers(path, server).first?.issuers.first?.name == "Anna Lis")
      #expect(try await issuers(VerificationRoute.externalIssuerStatistics, server).isEmpty)
    }
  }

  @Test("The codes of API keys are shown for all keys and for one; an unknown key gets 404")
  func apiKeys() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let other = try await server.newKey(.admin)
      let (own, id) = (String(server.adminKey.prefix(16)), String(other.prefix(16)))
      try await issue(12, for: nil, server)
      try await issue(9, for: nil, key: other, server)
      server.clock.advance(by: 86_400)
      let all = try await issuers(VerificationRoute.apiKeysStatistics, server)
      #expect(all.first?.issuers.map(\.apiKeyID) == [own])
      #expect(all.first?.issuers.first?.apiKeyName == "a laboratory")
      #expect(all.first?.issuers.first?.apiKeyKind == "admin")
      let folder = "/api/stats/realm/api-keys"
      let header =
        "date,authorized_app_id,authorized_app_name,authorized_app_type,codes_issued,"
        + "codes_claimed,codes_invalid,tokens_claimed,tokens_invalid"
      #expect(
        try await csv("\(folder)/\(own).csv", server) == [
          header, "2027-01-15,\(own),a laboratory,admin,10,0,0,0,0",
        ])
      #expect(try await csv("\(folder)/\(id).csv", server) == [header])
      let reader = ["X-API-Key": server.adminKey]
      let response = try await server.get("\(folder)/\(id).json", headers: reader)
      #expect(
        try JSONDecoder().decode(APIKeyStatisticsResponse.self, from: response.body)
          == APIKeyStatisticsResponse(id: id, name: "another", kind: "admin", statistics: []))
      for file in ["\(String(repeating: "0", count: 16)).json", "\(id).xml", "\(id)", ".csv"] {
        #expect(try await server.get("\(folder)/\(file)", headers: reader).status == 404)
      }
    }
  }
}
