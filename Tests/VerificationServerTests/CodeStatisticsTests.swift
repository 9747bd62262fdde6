// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// GET /api/stats/realm.json.
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
              date: "2027-01-15",
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
}
