// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Foundation
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

@Suite(.needs(.smallDisk))
struct FullDiskTests {
  @Test("On a full disk nothing is issued or spent, and with room again the code is valid")
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 4 << 20)
    let limits = AttemptLimits(perAddress: 3, perCode: 2)
    try await RunningServer.run(in: disk.url, attempts: limits) { server async throws in
      let code = try await server.newCode()
      let ballast = disk.fill()
      try await exhaust(server)
      let refused = try await server.redeem(code)
      #expect(refused.status == 503)
      #expect(refused.failure?.error.status == .unavailable)
      #expect(refused.headers["retry-after"] == "30")
      // Retries do not use up the budgets.
      for _ in 0..<5 { #expect(try await server.redeem(code).status == 503) }
      #expect(try await server.generate().status == 503)
      #expect(try await server.redeem("A1B2C3").status == 404)

      try FileManager.default.removeItem(at: ballast)
      let other = Data(repeating: 2, count: 32).base64EncodedString()
      let response = try await server.redeem(code, ekeyhmac: other)
      #expect(response.status == 200)
      _ = try await server.grant(of: response)
      let next = try await server.newCode()
      #expect(try await server.redeem(next).status == 200)
    }
  }

  @Test(
    "On a full disk Google's contract responds with 503, and with room again works on")
  func fullDiskGoogle() async throws {
    let disk = try SmallDisk(bytes: 4 << 20)
    let limits = AttemptLimits(perAddress: 3, perCode: 2)
    try await RunningServer.run(in: disk.url, attempts: limits) { server async throws in
      let spent = try await server.issue()
      let token = try await server.verified(spent.code).token
      let waiting = try await server.issue()
      let ballast = disk.fill()
      try await exhaust(server)
      for _ in 0..<4 {
        for response in [
          try await server.verify(waiting.code), try await server.certify(token),
          try await server.admin(VerificationRoute.issue, #"{"testType":"confirmed"}"#),
          try await server.admin(VerificationRoute.expireCode, #"{"uuid":"\#(waiting.uuid)"}"#),
        ] {
          #expect(response.refusal == "503 internal_server_error")
          #expect(response.headers["retry-after"] == "30")
        }
      }
      #expect(try await server.status(of: waiting.uuid).claimed == false)

      try FileManager.default.removeItem(at: ballast)
      #expect(try await server.certify(token, keyHMAC: Data(repeating: 8, count: 32)).status == 200)
      let other = try await server.verify(waiting.code, nonce: "AAAA")
      #expect(other.status == 200)
    }
  }

  @Test("A server that cannot open its database does not start")
  func fullFromTheStart() throws {
    let disk = try SmallDisk(bytes: 64 << 10)
    _ = disk.fill()
    #expect(throws: VerificationServerError.storageUnavailable) {
      try SQLiteCodeStorage(file: disk.url.appendingPathComponent("verification.sqlite"))
    }
  }

  /// Issues codes until the free pages of the log are used up as well.
  private func exhaust(_ server: RunningServer) async throws {
    var status = 200
    for _ in 0..<1_000 where status == 200 { status = try await server.generate().status }
    #expect(status == 503)
  }
}
