// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import Secrets
import ServerMetrics
import Synchronization
import TestSupport
import Testing

@testable import KeyServer

@Suite("A signing key that is away for a while, like one on a token")
struct SignerAwayTests {
  /// A key that can be away. It counts the signatures that it was asked for.
  private final class Key: P256Signer {
    private struct Away: Error, CustomStringConvertible {
      let description = "The token is not present: insert it."
    }

    private let key = P256.Signing.PrivateKey()
    private let state = Mutex((isAway: false, requests: 0))

    var publicKey: P256.Signing.PublicKey { key.publicKey }
    var requests: Int { state.withLock { $0.requests } }

    func setAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

    func signature(for digest: SHA256Digest) throws -> P256.Signing.ECDSASignature {
      state.withLock { $0.requests += 1 }
      try check()
      return try key.signature(for: digest)
    }

    func check() throws { if state.withLock({ $0.isAway }) { throw Away() } }
  }

  private let key = Key()

  private func run(_ body: (RunningKeyServer) async throws -> Void) async throws {
    try await RunningKeyServer.run(
      { $0.exportSigners = [ExportSigner(key: key, keyID: "260", keyVersion: "v1")] }, body)
  }

  private func state(_ server: RunningKeyServer) async throws -> String {
    String(decoding: try await server.get("/ready").body, as: UTF8.self)
  }

  private static let away = #"{"ready":false,"faults":["signing"]}"#
  private static let ready = #"{"ready":true}"#

  private func metric(_ server: RunningKeyServer) async -> Double? {
    let family = await server.server.families().first { $0.name == "firebreak_fault" }
    return family?.samples.first { $0.labels.contains { $0.value == "signing" } }?.value
  }

  @Test(
    "The export waits for the key and takes uploads; it is repeated after a minute and then writes the files"
  )
  func exports() async throws {
    try await run { server in
      try await server.untilIdle()
      #expect(try await server.upload(server.request(server.keys())).status == 200)
      key.setAway(true)
      for _ in 1...2 {
        server.clock.advance(by: 14_400)
        try await server.untilIdle()
        try await Patience.until { try await state(server) == Self.away }
        #expect(await metric(server) == 1)
        #expect(try await server.get(KeyServerRoute.index).body.isEmpty)
        #expect(try await server.upload(server.request(server.keys())).status == 200)
      }
      #expect(server.server.faults == ["The token is not present: insert it."])
      key.setAway(false)
      server.clock.advance(by: KeyServerLimit.exportRetrySeconds)
      try await Patience.until { try await state(server) == Self.ready }
      try await Patience.until { try await !server.get(KeyServerRoute.index).body.isEmpty }
      #expect(await metric(server) == 0)
    }
  }

  @Test("A key that goes away without a due export is noticed within a minute")
  func noticed() async throws {
    try await run { server in
      try await server.untilIdle()
      try await Patience.until { try await state(server) == Self.ready }
      key.setAway(true)
      server.clock.advance(by: KeyServerLimit.exportRetrySeconds)
      try await Patience.until { try await state(server) == Self.away }
    }
  }

  @Test(
    "A server starts without the key; the remote configuration follows, and is not signed for each request"
  )
  func start() async throws {
    key.setAway(true)
    try await run { server in
      try await server.untilIdle()
      try await Patience.until { try await state(server) == Self.away }
      for _ in 1...5 {
        #expect(try await server.get(KeyServerRoute.remoteConfiguration).status == 503)
      }
      #expect(key.requests == 1)
      #expect(try await server.upload(server.request(server.keys())).status == 200)
      key.setAway(false)
      server.clock.advance(by: KeyServerLimit.exportRetrySeconds)
      #expect(try await server.get(KeyServerRoute.remoteConfiguration).status == 200)
      try await Patience.until { try await state(server) == Self.ready }
    }
  }
}
