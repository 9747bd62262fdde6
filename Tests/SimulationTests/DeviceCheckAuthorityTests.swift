import Crypto
import Foundation
import Simulation
import Testing

@testable import Town

@Suite struct DeviceCheckAuthorityTests {
  private let key = P256.Signing.PrivateKey()
  private let clock = SimulatedClock(now: Date(timeIntervalSince1970: 1_772_409_600))
  private let authority: DeviceCheckAuthority

  init() throws {
    let team = try DeviceCheckTeam(
      id: "TEAM000001", keyID: "KEY1", publicKeyPEM: key.publicKey.pemRepresentation)
    authority = DeviceCheckAuthority(
      team: team, clock: clock, randomness: SeededRandomness(seed: 1, name: "devicecheck"))
  }

  private func introduction(
    team: String = "TEAM000001", keyID: String = "KEY1", by key: P256.Signing.PrivateKey? = nil
  ) throws -> String {
    let header = Data(#"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8).base64URL
    let issued = Int(clock.now.timeIntervalSince1970)
    let claims = Data(#"{"iss":"\#(team)","iat":\#(issued)}"#.utf8).base64URL
    let signature = try (key ?? self.key).signature(for: Data((header + "." + claims).utf8))
    return header + "." + claims + "." + signature.rawRepresentation.base64URL
  }

  private func question(_ token: Data, transaction: String = "one") -> DeviceCheckQuestion {
    DeviceCheckQuestion(
      device_token: token.base64EncodedString(), transaction_id: transaction,
      timestamp: Int64(clock.now.timeIntervalSince1970 * 1000))
  }

  @Test("A token is good for one transaction, asked about twice or not; in another it is a replay")
  func replay() async throws {
    let token = await authority.issueToken()
    for _ in 1...2 {
      #expect(
        try await authority.verdict(on: question(token), introducedBy: introduction()) == .genuine)
    }
    let replay = question(token, transaction: "two")
    #expect(try await authority.verdict(on: replay, introducedBy: introduction()) == .replayed)
    #expect(await authority.genuineCount == 1)
  }

  @Test("Another team, another key or another signer may not ask, and uses no token up")
  func strangers() async throws {
    let asked = question(await authority.issueToken())
    let strangers = [
      try introduction(team: "TEAM000002"), try introduction(keyID: "KEY2"),
      try introduction(by: P256.Signing.PrivateKey()), "", "a.b.c",
    ]
    for stranger in strangers {
      #expect(await authority.verdict(on: asked, introducedBy: stranger) == .unknownTeam)
    }
    #expect(try await authority.verdict(on: asked, introducedBy: introduction()) == .genuine)
  }

  @Test("A token nobody was given and a question from yesterday are refused")
  func unknownAndStale() async throws {
    let unknown = question(Data(repeating: 1, count: 32))
    #expect(
      try await authority.verdict(on: unknown, introducedBy: introduction()) == .unknownDevice)
    let late = question(await authority.issueToken())
    clock.advance(by: 86400)
    #expect(try await authority.verdict(on: late, introducedBy: introduction()) == .stale)
  }
}

extension Data {
  fileprivate var base64URL: String {
    base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }
}
