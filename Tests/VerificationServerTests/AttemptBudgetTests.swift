import CallableEnvelope
import Foundation
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

@Suite struct AttemptBudgetTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test(
    "2.11, 5.10 D9 After the last failed attempt an address waits, also with a good code")
  func perAddress() async throws {
    let limits = AttemptLimits(perAddress: 3, perCode: 100, windowSeconds: 600)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      let code = try await server.newCode()
      for _ in 0..<3 { #expect(try await server.redeem("A1B2C3").status == 404) }
      let refused = try await server.redeem(code)
      #expect(refused.status == 429)
      #expect(refused.failure?.error.status == .resourceExhausted)
      #expect(refused.headers["retry-after"] == "600")
      server.clock.advance(599)
      #expect(try await server.redeem(code).headers["retry-after"] == "1")
      server.clock.advance(1)
      #expect(try await server.redeem(code).status == 200)
    }
  }

  @Test("A good code takes nothing from the address's budget")
  func honest() async throws {
    let limits = AttemptLimits(perAddress: 2, perCode: 100)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      for _ in 0..<10 {
        let code = try await server.newCode()
        #expect(try await server.redeem(code).status == 200)
      }
    }
  }

  @Test(
    "A code bears exactly as many attempts as the limit says, whether it exists or not",
    arguments: [true, false])
  func perCode(exists: Bool) async throws {
    let limits = AttemptLimits(perAddress: 100, perCode: 3)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      let code = exists ? try await server.newCode() : "A1B2C3"
      for _ in 0..<3 {
        #expect(try await server.redeem(code).status == (exists ? 200 : 404))
      }
      let refused = try await server.redeem(code)
      #expect(refused.status == 429)
      #expect(refused.headers["retry-after"] == "600")
      #expect(try await server.redeem("Z9Z9Z9").status == 404)
    }
  }

  @Test("Guessing api tokens has a budget, too")
  func operators() async throws {
    let limits = AttemptLimits(perAddress: 3)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      let wrong = [VerificationRoute.apiTokenHeader: "a-wrong-operators-token"]
      for _ in 0..<3 { #expect(try await server.generate(headers: wrong).status == 403) }
      #expect(try await server.generate(headers: wrong).status == 429)
      #expect(try await server.generate().status == 429)
      server.clock.advance(600)
      #expect(try await server.generate().status == 200)
    }
  }

  @Test("Wrong codes from an address do not keep the officials there from issuing new ones")
  func separate() async throws {
    let limits = AttemptLimits(perAddress: 2)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      for _ in 0..<2 { #expect(try await server.redeem("A1B2C3").status == 404) }
      #expect(try await server.redeem("A1B2C3").status == 429)
      #expect(try await server.generate().status == 200)
    }
  }

  @Test("Decoys draw on no budget")
  func decoys() async throws {
    let limits = AttemptLimits(perAddress: 1, perCode: 1)
    try await RunningServer.run(in: folder.url, attempts: limits) { server async throws in
      for _ in 0..<3 {
        #expect(try await server.redeem("A1B2C3", headers: ["X-Chaff": "1"]).status == 200)
      }
      #expect(try await server.redeem("A1B2C3").status == 404)
    }
  }
}
