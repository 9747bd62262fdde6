import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import Synchronization
import TestSupport
import Testing

/// Documentation/KeyServer.md 8.5.
@Suite("The keys of tokens, changed while the server runs")
struct TokenKeyTests {
  /// What a file of the operator's would hold.
  private final class Known: Sendable {
    private let state: Mutex<(keys: [String: P256.Signing.PrivateKey], readings: Int)>

    init(_ keys: [String: P256.Signing.PrivateKey]) { state = Mutex((keys, 0)) }

    var readings: Int { state.withLock { $0.readings } }
    func set(_ keys: [String: P256.Signing.PrivateKey]) { state.withLock { $0.keys = keys } }

    func read() throws -> [String: String] {
      try state.withLock { state in
        state.readings += 1
        guard !state.keys.isEmpty else { throw CocoaError(.fileReadNoSuchFile) }
        return state.keys.mapValues(\.publicKey.pemRepresentation)
      }
    }
  }

  private func run(
    _ body: (RunningKeyServer, Known) async throws -> Void
  ) async throws {
    let authority = Authority()
    let known = Known(["t1": authority.tokenKey])
    try await RunningKeyServer.run(
      authority: authority, { $0.readTokenPublicKeysPEM = { try known.read() } }
    ) { try await body($0, known) }
  }

  @Test(
    "A key that has come is believed at once, in both contracts; one that has gone after a minute")
  func rotation() async throws {
    try await run { server, known async throws in
      let new = P256.Signing.PrivateKey()
      func upload(_ keyID: String, _ key: P256.Signing.PrivateKey) async throws -> UInt {
        let token = try await server.authority.token(at: server.clock.now, key: key, keyID: keyID)
        return try await server.upload(server.request(server.keys(1), token: token)).status
      }
      let old = server.authority.tokenKey
      #expect(try await upload("t1", old) == 200)
      #expect(try await upload("t2", new) == 401)
      known.set(["t1": old, "t2": new])
      server.clock.advance(by: 1)
      #expect(try await upload("t2", new) == 200)
      let scene = PublishScene(server: server)
      let keys = scene.keys(2)
      let certificate = try scene.certificate(keys) { ($0.keyID, $0.key) = ("t2", new) }
      #expect(try await scene.publish(scene.request(keys, certificate: certificate)).status == 200)
      let next = P256.Signing.PrivateKey()
      known.set(["t2": new, "t3": next])
      server.clock.advance(by: 1)
      let others = scene.keys(2)
      let third = try scene.certificate(others) { ($0.keyID, $0.key) = ("t3", next) }
      #expect(try await scene.publish(scene.request(others, certificate: third)).status == 200)
      #expect(try await upload("t1", old) == 401)
    }
  }

  @Test("A file that cannot be read, or holds no key, changes nothing")
  func unreadable() async throws {
    try await run { server, known async throws in
      #expect(try await server.upload(server.request(server.keys(1))).status == 200)
      known.set([:])
      server.clock.advance(by: 61)
      #expect(try await server.upload(server.request(server.keys(1))).status == 200)
    }
  }

  @Test("A flood of tokens with unknown keys has the file read once a second and not more")
  func flood() async throws {
    try await run { server, known async throws in
      #expect(try await server.upload(server.request(server.keys(1))).status == 200)
      server.clock.advance(by: 1)
      let before = known.readings
      for number in 0..<20 {
        let token = try await server.authority.token(at: server.clock.now, keyID: "x\(number)")
        let request = try await server.request(server.keys(1), token: token)
        #expect(try await server.upload(request).status == 401)
      }
      #expect(known.readings == before + 1)
    }
  }
}
