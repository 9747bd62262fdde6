// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Simulation
import Testing
import TextEncodings
import World

@testable import Town

@Suite("Simulated DeviceCheck") struct SimulatedDeviceCheckTests {
  private let key = P256.Signing.PrivateKey()
  private let clock = SimulatedClock(now: Date(timeIntervalSince1970: 1_772_409_600))
  private let deviceCheck: SimulatedDeviceCheck

  init() throws {
    let team = try DeviceCheckTeam(
      id: "TEAM000001", keyID: "KEY1", publicKeyPEM: key.publicKey.pemRepresentation)
    deviceCheck = SimulatedDeviceCheck(
      team: team, clock: clock, randomness: SeededRandomness(seed: 1, name: "devicecheck"))
  }

  private func authorization(
    team: String = "TEAM000001", keyID: String = "KEY1", by key: P256.Signing.PrivateKey? = nil
  ) throws -> String {
    let header = Data(#"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8).base64URL
    let issued = Int(clock.now.timeIntervalSince1970)
    let claims = Data(#"{"iss":"\#(team)","iat":\#(issued)}"#.utf8).base64URL
    let signature = try (key ?? self.key).signature(for: Data((header + "." + claims).utf8))
    return header + "." + claims + "." + signature.rawRepresentation.base64URL
  }

  private func validation(_ token: Data, transaction: String = "one") -> DeviceCheckRequest {
    DeviceCheckRequest(
      device_token: token.base64EncodedString(), transaction_id: transaction,
      timestamp: Int64(clock.now.timeIntervalSince1970 * 1000))
  }

  @Test("A token is valid for one transaction, also repeatedly, and replayed in another")
  func replay() async throws {
    let token = await deviceCheck.issueToken()
    for _ in 1...2 {
      #expect(
        try await deviceCheck.result(for: validation(token), authorizedBy: authorization())
          == .genuine)
    }
    let replay = validation(token, transaction: "two")
    #expect(try await deviceCheck.result(for: replay, authorizedBy: authorization()) == .replayed)
    #expect(await deviceCheck.validatedCount == 1)
  }

  @Test("An authorization of another team, key or signer is rejected and does not use the token")
  func others() async throws {
    let request = validation(await deviceCheck.issueToken())
    let others = [
      try authorization(team: "TEAM000002"), try authorization(keyID: "KEY2"),
      try authorization(by: P256.Signing.PrivateKey()), "", "a.b.c",
    ]
    for other in others {
      #expect(await deviceCheck.result(for: request, authorizedBy: other) == .unknownTeam)
    }
    #expect(try await deviceCheck.result(for: request, authorizedBy: authorization()) == .genuine)
  }

  @Test("An unknown token and a request from yesterday are rejected")
  func unknownAndStale() async throws {
    let unknown = validation(Data(repeating: 1, count: 32))
    #expect(
      try await deviceCheck.result(for: unknown, authorizedBy: authorization()) == .unknownDevice)
    let late = validation(await deviceCheck.issueToken())
    clock.advance(by: 86400)
    #expect(try await deviceCheck.result(for: late, authorizedBy: authorization()) == .stale)
  }
}
