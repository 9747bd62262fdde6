// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import UploadToken
import VerificationAPI

@testable import VerificationServer

/// POST /api/verify.
@Suite struct VerifyRouteTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("A code of a laboratory is exchanged for a token, with the test type and the dates")
  func fromCodeToToken() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let issued = try await server.issue(
        #"{"testType":"likely","symptomDate":"2027-01-10","testDate":"2027-01-12"}"#)
      let response = try await server.verify(issued.code)
      #expect(response.status == 200)
      let verified = try JSONDecoder().decode(VerifyResponse.self, from: response.body)
      #expect(verified.testtype == "likely")
      #expect(verified.symptomDate == "2027-01-10")
      #expect(verified.testDate == "2027-01-12")
      #expect(try await server.status(of: issued.uuid).claimed == true)
    }
  }

  @Test("The token is signed with ES256, is for the issuer itself, and is valid for a day")
  func tokenClaims() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let code = try await server.issue(#"{"testType":"confirmed","testDate":"2027-01-12"}"#).code
      let token = try CompactToken(try await server.verified(code).token)
      #expect(token.isES256 && token.keyID == "v1")
      let claims = try #require(token.hint(VerificationToken.Claims.self))
      #expect(claims.iss == "verification" && claims.aud == "verification")
      #expect(claims.sub == "confirmed..2027-01-12")
      #expect(claims.exp - claims.iat == 86_400)
      #expect(UUID(uuidString: claims.jti) != nil)
    }
  }

  @Test("A retry gets the same token, until it has been exchanged for a certificate")
  func lostResponse() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let code = try await server.issue().code
      let first = try await server.verified(code)
      #expect(try await server.verified(code) == first)
      #expect(try await server.verify(code, nonce: "AAAA").refusal == "400 code_invalid")
      #expect(try await server.certify(first.token).status == 200)
      #expect(try await server.verify(code).refusal == "400 code_invalid")
      server.clock.advance(by: 901)
      #expect(try await server.verify(code).refusal == "400 code_invalid")
    }
  }

  @Test("Of fifty concurrent requests with one code and different nonces exactly one gets a token")
  func oneWins() async throws {
    try await RunningServer.run(
      in: folder.url, attempts: AttemptLimits(perAddress: 1_000, perCode: 100)
    ) { server async throws in
      let code = try await server.issue().code
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for index in 0..<50 {
          let nonce = Data([UInt8(index)]).base64EncodedString()
          group.addTask { try await server.verify(code, nonce: nonce).status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.filter { $0 == 200 }.count == 1)
      #expect(statuses.filter { $0 == 400 }.count == 49)
    }
  }

  @Test(
    "Kinds of test in the accept list include others; a code of another kind gets 412 and stays valid",
    arguments: [
      ("confirmed", [[], ["confirmed"], ["likely"], ["negative"]], [["user-report"]]),
      ("likely", [[], ["likely"], ["negative"], ["confirmed", "likely"]], [["confirmed"]]),
      ("negative", [[], ["negative"]], [["confirmed"], ["likely"], ["likely", "user-report"]]),
    ])
  func accept(testType: String, good: [[String]], bad: [[String]]) async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      for list in good {
        let code = try await server.issue(#"{"testType":"\#(testType)"}"#).code
        for other in bad {
          #expect(
            try await server.verify(code, accept: other).refusal == "412 unsupported_test_type")
        }
        #expect(try await server.verify(code, accept: list).status == 200)
      }
    }
  }

  @Test("Each invalid request gets its error code and status")
  func errors() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let good = try await server.issue().code
      #expect(try await server.verify(good, accept: ["strange"]).refusal == "400 invalid_test_type")
      #expect(
        try await server.verify(good, accept: ["confirmed", ""]).refusal == "400 invalid_test_type")
      #expect(try await server.verify(good, nonce: "?").refusal == "400 unparsable_request")
      for code in ["", "00000000", "not a code", "123"] {
        #expect(try await server.verify(code).refusal == "400 code_invalid")
      }
      #expect(
        try await server.device(VerificationRoute.verify, "{}").refusal == "400 code_invalid")
      server.clock.advance(by: 900)
      #expect(try await server.verify(good).status == 200)
      let late = try await server.issue().code
      server.clock.advance(by: 900)
      #expect(try await server.verify(late, nonce: "AAAA").status == 200)
      let tooLate = try await server.issue().code
      server.clock.advance(by: 901)
      #expect(try await server.verify(tooLate).refusal == "400 code_expired")
    }
  }

  @Test("A code may be typed with spaces and hyphens, and may be a PIN")
  func forms() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let code = try await server.issue().code
      let typed = " \(code.prefix(4))-\(code.suffix(4)) "
      #expect(try await server.verify(typed).status == 200)
      let pin = try await server.newCode()
      let token = try await server.verified(pin.lowercased()).token
      #expect(try await server.certify(token).status == 200)
      // A code used in one contract is used in the other.
      #expect(try await server.redeem(pin).status == 404)
      let other = try await server.newCode()
      #expect(try await server.redeem(other).status == 200)
      #expect(try await server.verify(other).refusal == "400 code_invalid")
    }
  }

  @Test("If the token cannot be signed the response is 503 and the code stays valid")
  func signingFails() async throws {
    let key = try SigningKey(
      keyID: "late", privateKeyPEM: VerificationBench.pem(),
      signsFrom: VerificationBench.start + 100)
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.signing = UploadTokenIssuer(
          keys: try SigningKeys([key]), issuer: "verification", audience: "keys")
      }
    ) { server async throws in
      let issued = try await server.issue()
      let refused = try await server.verify(issued.code)
      #expect(refused.refusal == "503 internal_server_error")
      #expect(refused.headers["retry-after"] == "30")
      #expect(try await server.status(of: issued.uuid).claimed == false)
      server.clock.advance(by: 100)
      #expect(try await server.verify(issued.code, nonce: "AAAA").status == 200)
    }
  }

  @Test("A clock three days ahead for a moment makes no exchanged token valid again")
  func clockAhead() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let token = try await server.verified(try await server.issue().code).token
      _ = try await server.certify(token)
      server.clock.jump(by: 3 * 86_400)
      let error = await #expect(throws: VerificationServerError.self) {
        try await server.server.removeExpired()
      }
      #expect(error?.description.contains("clock --confirm") == true)
      server.clock.jump(by: -3 * 86_400)
      let other = Data(repeating: 9, count: 32)
      #expect(try await server.certify(token, keyHMAC: other).refusal == "400 token_expired")
    }
  }

  @Test("With the clock set back, used codes and tokens stay used")
  func clockSetBack() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let issued = try await server.issue()
      let token = try await server.verified(issued.code).token
      _ = try await server.certify(token)
      server.clock.advance(by: -3_600)
      #expect(try await server.verify(issued.code).refusal == "400 code_invalid")
      let other = Data(repeating: 9, count: 32)
      #expect(try await server.certify(token, keyHMAC: other).refusal == "400 token_expired")
    }
  }
}
