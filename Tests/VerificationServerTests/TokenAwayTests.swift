// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import Crypto
import Foundation
import Secrets
import ServerMetrics
import Synchronization
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

@Suite("A key on a token that signs upload tokens and certificates, and is away for a while")
struct TokenAwayTests {
  /// A key that can be away, fail or not respond.
  private final class Key: P256Signer {
    enum Behaviour: Sendable {
      case signs, isAway
      /// It is found, and cannot sign.
      case fails
      /// Its calls do not return.
      case hangs
    }

    private struct Fault: Error, CustomStringConvertible {
      let description: String
    }

    private let key = P256.Signing.PrivateKey()
    private let state = Mutex((behaviour: Behaviour.signs, calls: 0, signatures: 0, releases: 0))

    var publicKey: P256.Signing.PublicKey { key.publicKey }
    var mayBlock: Bool { true }
    var isCalled: Bool { state.withLock { $0.calls > 0 } }
    var signatureCount: Int { state.withLock { $0.signatures } }

    func set(_ behaviour: Behaviour) { state.withLock { $0.behaviour = behaviour } }

    /// Lets one call that hangs return.
    func releaseOne() { state.withLock { $0.releases += 1 } }

    private func isReleased() -> Bool {
      state.withLock { state in
        guard state.releases > 0 else { return false }
        state.releases -= 1
        return true
      }
    }

    func signature(for digest: SHA256Digest) throws -> P256.Signing.ECDSASignature {
      try checkAvailability()
      guard state.withLock({ $0.behaviour }) != .fails else {
        throw Fault(description: "The token cannot sign: check it.")
      }
      state.withLock { $0.signatures += 1 }
      return try key.signature(for: digest)
    }

    func checkAvailability() throws {
      state.withLock { $0.calls += 1 }
      defer { state.withLock { $0.calls -= 1 } }
      // Blocks the thread, as long as a test may wait.
      for _ in 0..<Patience.seconds * 100 {
        guard state.withLock({ $0.behaviour }) == .hangs, !isReleased() else { break }
        usleep(10_000)
      }
      guard state.withLock({ $0.behaviour }) != .isAway else {
        throw Fault(description: "The token is not present: insert it.")
      }
    }
  }

  private let key = Key()
  private let folder: TemporaryFolder
  private static let ready = #"{"ready":true}"#
  private static let away = #"{"ready":false,"faults":["signing"]}"#

  init() throws { folder = try TemporaryFolder() }

  private func run(_ test: (RunningServer) async throws -> Void) async throws {
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.signing = UploadTokenIssuer(
          keys: try SigningKeys([SigningKey(keyID: "v1", signer: key)]), issuer: "verification",
          audience: "keys")
      }, test)
  }

  private func state(_ server: RunningServer) async throws -> String {
    String(decoding: try await server.get("/ready").body, as: UTF8.self)
  }

  private func fault(_ server: RunningServer) async -> Double? {
    let family = await server.server.families().first { $0.name == "firebreak_fault" }
    return family?.samples.first { $0.labels.contains { $0.value == "signing" } }?.value
  }

  /// Advances the clock by the interval of the checks until the state is this one.
  private func advance(_ server: RunningServer, until expected: String) async throws {
    try await Patience.until {
      server.clock.advance(by: VerificationLimit.signerCheckSeconds)
      return try await state(server) == expected
    }
  }

  /// True if `token` is valid for the key on the token.
  private func isValid(_ token: String?) throws -> Bool {
    let token = try CompactToken(try #require(token))
    do throws(UploadTokenRefusal) {
      _ = try token.claims(VerificationToken.Claims.self, signedBy: key.publicKey)
    } catch {
      return error == .malformed
    }
    return true
  }

  @Test("It signs upload tokens, verification tokens and certificates; its public key is served")
  func signs() async throws {
    try await run { server in
      #expect(try isValid(await server.redeem(server.newCode()).token))
      let verified = try await server.verified(server.issue().code).token
      #expect(try isValid(verified))
      let certified = try await server.certify(verified)
      let text = try JSONDecoder().decode([String: String].self, from: certified.body)
      #expect(try isValid(text["certificate"]))
      #expect(key.signatureCount == 3)
      let page = try await server.get(VerificationRoute.keys)
      let known = try JSONDecoder().decode(JSONWebKeySet.self, from: page.body).publicKeysPEM
      #expect(known == ["v1": key.publicKey.pemRepresentation])
    }
  }

  @Test(
    "Without it a server starts and issues codes, which stay unused and give tokens when it is back"
  )
  func away() async throws {
    key.set(.isAway)
    try await run { server in
      try await Patience.until { try await state(server) == Self.away }
      #expect(await fault(server) == 1)
      #expect(server.server.faults == ["The token is not present: insert it."])
      let (pin, code) = (try await server.newCode(), try await server.issue().code)
      for _ in 1...2 {
        let refused = try await server.redeem(pin)
        #expect(refused.status == 503 && refused.headers["retry-after"] != nil)
        #expect(try await server.verify(code).status == 503)
      }
      key.set(.signs)
      // A request that is signed ends the fault before the next check.
      #expect(try isValid(await server.redeem(pin).token))
      #expect(await fault(server) == 0)
      try await Patience.until { try await state(server) == Self.ready }
      #expect(try isValid(await server.verified(code).token))
    }
  }

  @Test("A token that is removed is noticed within a minute, and one that is back too")
  func noticed() async throws {
    try await run { server in
      try await server.untilIdle()
      #expect(try await state(server) == Self.ready)
      for (behaviour, expected) in [(Key.Behaviour.isAway, Self.away), (.signs, Self.ready)] {
        key.set(behaviour)
        try await server.untilIdle()
        server.clock.advance(by: VerificationLimit.signerCheckSeconds)
        try await Patience.until { try await state(server) == expected }
      }
    }
  }

  @Test("A key that is found and cannot sign stays a fault until it signs")
  func failing() async throws {
    try await run { server in
      try await server.untilIdle()
      let pin = try await server.newCode()
      key.set(.fails)
      #expect(try await server.redeem(pin).status == 503)
      for _ in 1...2 {
        try await server.untilIdle()
        server.clock.advance(by: VerificationLimit.signerCheckSeconds)
        #expect(try await state(server) == Self.away)
      }
      try await server.untilIdle()
      key.set(.signs)
      try await advance(server, until: Self.ready)
      #expect(try isValid(await server.redeem(server.newCode()).token))
    }
  }

  @Test("No request waits for long for a token that does not respond; the server works meanwhile")
  func hanging() async throws {
    try await run { server in
      defer { key.set(.signs) }
      try await server.untilIdle()
      let pin = try await server.newCode()
      key.set(.hangs)
      let waiting = Task { try await server.redeem(pin) }
      // Its own limit, that of the call, and the server's own pause.
      try await Patience.until { key.isCalled && server.clock.sleeperCount == 3 }
      server.clock.advance(by: VerificationLimit.signatureSecondsMax)
      #expect(try await waiting.value.status == 503)
      #expect(server.server.faults.contains { $0.contains("does not respond") })
      try await advance(server, until: Self.away)
      let other = try await server.newCode()
      let status = Mutex<Int?>(nil)
      let second = Task {
        let response = try await server.redeem(other)
        status.withLock { $0 = response.status }
      }
      try await Patience.until {
        server.clock.advance(by: VerificationLimit.signatureSecondsMax)
        return status.withLock { $0 } != nil
      }
      try await second.value
      #expect(status.withLock { $0 } == 503)
      key.set(.signs)
      try await advance(server, until: Self.ready)
      #expect(try isValid(await server.redeem(server.newCode()).token))
    }
  }

  @Test("A busy token is no fault: a request that waited for an earlier one gets 503")
  func busy() async throws {
    try await run { server in
      defer { key.set(.signs) }
      try await server.untilIdle()
      let (first, second) = (try await server.newCode(), try await server.newCode())
      key.set(.hangs)
      let running = Task { try await server.redeem(first) }
      // Its own limit, that of the call, and the server's own pause.
      try await Patience.until { key.isCalled && server.clock.sleeperCount == 3 }
      let waiting = Task { try await server.redeem(second) }
      try await Patience.until { server.clock.sleeperCount == 4 }
      server.clock.advance(by: VerificationLimit.signatureSecondsMax - 1)
      key.releaseOne()
      #expect(try isValid(await running.value.token))
      try await Patience.until { server.clock.sleeperCount == 3 }
      server.clock.advance(by: 1)
      #expect(try await waiting.value.status == 503)
      #expect(try await state(server) == Self.ready)
      key.set(.signs)
      #expect(try isValid(await server.redeem(second).token))
    }
  }

  @Test("One code cannot keep it busy: its certificates of an hour are limited, also for a permit")
  func limited() async throws {
    try await run { server in
      let token = try await server.verified(server.issue().code).token
      key.set(.isAway)
      // Requests without a signature do not count.
      for _ in 0...VerificationLimit.signaturesOfID {
        #expect(try await server.certify(token).status == 503)
      }
      key.set(.signs)
      try await expectLimit(server) { try await server.certify(token) }
      server.clock.advance(by: Double(VerificationLimit.signatureWindowSeconds))
      #expect(try await server.certify(token).status == 200)
      #expect(try await server.certify(server.verified(server.issue().code).token).status == 200)
      let hmac = RunningServer.keyHMAC.base64EncodedString()
      let pin = try await server.newCode()
      let first = try await server.post(
        VerificationRoute.accessToken,
        #"{"data":{"code":"\#(pin)","ekeyhmac":"\#(hmac)","wantsFollowUp":true}}"#)
      let result = try JSONDecoder().decode(
        CallableResponse<AccessTokenResponse>.self, from: first.body
      ).result
      let permit = try #require(result.followUp)
      let request = #"{"data":{"followUp":"\#(permit)","ekeyhmac":"\#(hmac)"}}"#
      server.clock.advance(by: 86_400)
      try await expectLimit(server) {
        try await server.post(VerificationRoute.accessToken, request)
      }
    }
  }

  /// Repeats a request fifty times, and expects signatures up to the limit and 429 beyond it.
  private func expectLimit(
    _ server: RunningServer, _ request: () async throws -> RunningServer.Response
  ) async throws {
    let (before, window) = (key.signatureCount, VerificationLimit.signatureWindowSeconds)
    for number in 1...50 {
      let response = try await request()
      let isSigned = number <= VerificationLimit.signaturesOfID
      #expect(response.status == (isSigned ? 200 : 429), "\(number)")
      #expect(response.headers["retry-after"] == (isSigned ? nil : "\(window)"))
    }
    #expect(key.signatureCount == before + VerificationLimit.signaturesOfID)
    #expect(try await state(server) == Self.ready)
  }

  @Test("A server stops while the token does not respond")
  func stopped() async throws {
    key.set(.hangs)
    try await run { _ in try await Patience.until { key.isCalled } }
    #expect(key.isCalled)
    key.set(.signs)
  }
}
