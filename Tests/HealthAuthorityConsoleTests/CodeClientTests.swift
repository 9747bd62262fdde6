// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Logging
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import HealthAuthorityConsole
@testable import VerificationServer

/// The client of the admin API, with a real verification server.
@Suite struct CodeClientTests {
  private static func withServer(
    _ test: (CodeClient, ManualClock) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let clock = ManualClock(RunningConsole.start)
    let key = P256.Signing.PrivateKey()
    let configuration = VerificationServerConfiguration(
      databaseFile: folder.path("verification.sqlite"), apiTokens: ["an-operators-token"],
      codeHashKey: [UInt8](repeating: 7, count: 32),
      signing: try UploadTokenIssuer(
        keyID: "v1", privateKeyPEM: key.pemRepresentation, issuer: "verification",
        audience: "keys"))
    let apiKey = try await APIKeys(
      configuration: configuration, clock: clock, randomness: SystemRandomness()
    ).add(kind: .admin, name: "console")
    let server = try VerificationServer(
      configuration: configuration, clock: clock, randomness: SystemRandomness(),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let run = Task { try await server.run() }
    defer { run.cancel() }
    let port = await server.boundPort
    let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
    let client = try #require(
      CodeClient(server: url, apiKey: apiKey, responseSeconds: Int64(Patience.seconds)))
    try await test(client, clock)
    run.cancel()
    _ = await run.result
  }

  private static let futureDay = AuthorityFailure.notIssued(
    VerificationFailure(
      .invalidDate, "Dates must not be in the future or more than 28 days ago."))

  @Test("A PIN is issued once for a UUID, has a status, and is ended")
  func pin() async throws {
    try await Self.withServer { client, clock async throws in
      let request = CodeRequest(uuid: UUID(), testType: .confirmed, symptomDate: "2027-01-12")
      let issued = try await client.issue(request)
      #expect(VerificationCode(issued.code) != nil && issued.uuid == request.uuid)
      await #expect(throws: AuthorityFailure.taken) { try await client.issue(request) }
      let state = try await client.state(ofCode: request.uuid)
      #expect(!state.isUsed && state.expiresAt == issued.expiresAt)
      let ended = try await client.expire(code: request.uuid)
      #expect(ended.expiresAt < clock.now)
      await #expect(throws: AuthorityFailure.notFound) { try await client.state(ofCode: UUID()) }
      let future = CodeRequest(uuid: UUID(), testType: .confirmed, symptomDate: "2027-02-01")
      await #expect(throws: AuthorityFailure.self) { try await client.issue(future) }
    }
  }

  @Test("The statistics count the issued codes by day")
  func statistics() async throws {
    try await Self.withServer { client, clock async throws in
      #expect(try await client.statistics().isEmpty)
      let requests = (0..<3).map { _ in CodeRequest(uuid: UUID(), testType: .confirmed) }
      _ = await client.issue(requests)
      let days = try await client.statistics()
      #expect(days.map(\.date) == ["2027-01-15T00:00:00Z"] && days.first?.data.codesIssued == 3)
      clock.advance(by: 86_400)
      _ = try await client.issue(CodeRequest(uuid: UUID(), testType: .confirmed))
      #expect(
        try await client.statistics().map { $0.date.prefix(10) } == ["2027-01-16", "2027-01-15"])
    }
  }

  @Test("The codes of an official are counted with the official's name, those of the key as well")
  func issuers() async throws {
    try await Self.withServer { client, clock async throws in
      let requests = (0..<20).map { _ in
        var request = CodeRequest(uuid: UUID(), testType: .likely)
        request.official = "Anna Lis"
        return request
      }
      _ = await client.issue(requests)
      #expect(try await client.issuers(VerificationRoute.userStatistics).isEmpty)
      clock.advance(by: 86_400)
      let users = try await client.issuers(VerificationRoute.userStatistics)
      #expect(users.first?.issuers.map(\.name) == ["Anna Lis"])
      #expect(users.first?.issuers.map(\.codesIssued) == [20])
      let keys = try await client.issuers(VerificationRoute.apiKeysStatistics)
      #expect(keys.first?.issuers.map(\.apiKeyName) == ["console"])
      #expect(try await client.issuers(VerificationRoute.externalIssuerStatistics).isEmpty)
    }
  }

  @Test(
    "A batch of 25 is issued in the order of its lines, with the fault of one beside the others")
  func batch() async throws {
    try await Self.withServer { client, _ async throws in
      let requests = (0..<25).map { index in
        CodeRequest(
          uuid: UUID(), testType: index == 3 ? .likely : .confirmed,
          symptomDate: index == 12 ? "2028-01-01" : nil)
      }
      let results = await client.issue(requests)
      #expect(results.count == 25)
      for (index, result) in results.enumerated() {
        switch result {
        case .success(let issued):
          #expect(issued.uuid == requests[index].uuid && index != 12)
          #expect((VerificationCode(issued.code) != nil) == (index != 3))
        case .failure(let failure):
          #expect(index == 12)
          #expect(failure == Self.futureDay)
        }
      }
    }
  }

  @Test("An unreachable server throws unavailable, and an address without TLS is refused")
  func failures() async throws {
    let nowhere = try #require(URL(string: "http://127.0.0.1:1"))
    // The client tries to connect until the timeout of the response.
    let lost = try #require(CodeClient(server: nowhere, apiKey: "key", responseSeconds: 1))
    let request = CodeRequest(uuid: UUID(), testType: .confirmed)
    await #expect(throws: AuthorityFailure.unavailable) { try await lost.issue(request) }
    let results = await lost.issue([request])
    #expect(results.count == 1)
    let plain = try #require(URL(string: "http://verification.example"))
    #expect(CodeClient(server: plain, apiKey: "key") == nil)
  }
}
