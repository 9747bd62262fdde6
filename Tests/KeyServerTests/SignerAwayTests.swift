// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import Secrets
import ServerMetrics
import ServerStorage
import Synchronization
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite("A signing key that is away for a while, like one on a token")
struct SignerAwayTests {
  /// A key that can be away, fail or not respond. It counts the signatures that it was asked for.
  private final class Key: P256Signer {
    enum Behaviour: Sendable {
      case signs, isAway
      /// It is found, and cannot sign.
      case fails
      /// Its calls do not return, or only those that sign.
      case hangs, hangsSigning
    }

    private struct Fault: Error, CustomStringConvertible {
      let description: String
    }

    private struct State {
      var behaviour = Behaviour.signs
      var requests = 0
      var checks = 0
      /// Calls that have not returned.
      var calls = 0
      var onSigning: @Sendable () -> Void = {}
    }

    private let key = P256.Signing.PrivateKey()
    private let state = Mutex(State())

    var publicKey: P256.Signing.PublicKey { key.publicKey }
    var mayBlock: Bool { true }
    var requests: Int { state.withLock { $0.requests } }
    var isCalled: Bool { state.withLock { $0.calls > 0 } }
    /// True if it was called, and no call is in progress.
    var isIdle: Bool { state.withLock { $0.checks > 0 && $0.calls == 0 } }

    func set(_ behaviour: Behaviour) { state.withLock { $0.behaviour = behaviour } }
    func onSigning(_ work: @escaping @Sendable () -> Void) {
      state.withLock { $0.onSigning = work }
    }

    func signature(for digest: SHA256Digest) throws -> P256.Signing.ECDSASignature {
      let onSigning = state.withLock { state in
        state.requests += 1
        return state.onSigning
      }
      onSigning()
      try checkAvailability()
      wait(while: .hangsSigning)
      guard state.withLock({ $0.behaviour }) != .fails else {
        throw Fault(description: "The token cannot sign: check it.")
      }
      return try key.signature(for: digest)
    }

    func checkAvailability() throws {
      state.withLock { $0.checks += 1 }
      wait(while: .hangs)
      guard state.withLock({ $0.behaviour }) != .isAway else {
        throw Fault(description: "The token is not present: insert it.")
      }
    }

    /// Blocks the thread, as long as a test may wait.
    private func wait(while behaviour: Behaviour) {
      state.withLock { $0.calls += 1 }
      defer { state.withLock { $0.calls -= 1 } }
      for _ in 0..<Patience.seconds * 100 {
        guard state.withLock({ $0.behaviour }) == behaviour else { return }
        usleep(10_000)
      }
    }
  }

  private let key = Key()

  private func run(
    log: CollectedLog? = nil, _ body: (RunningKeyServer) async throws -> Void
  ) async throws {
    try await RunningKeyServer.run(
      log: log, { $0.exportSigners = [ExportSigner(key: key, keyID: "260", keyVersion: "v1")] },
      body)
  }

  /// Waits until the server's own tasks sleep and the key is idle, twice: the limit of a call that has just ended may
  /// still sleep on the clock.
  private func idle(_ server: RunningKeyServer) async throws {
    var count = 0
    try await Patience.until {
      count = key.isIdle && server.clock.sleeperCount == 2 ? count + 1 : 0
      return count == 2
    }
  }

  /// Advances the clock in small steps until the state is this one.
  private func advance(_ server: RunningKeyServer, until expected: String) async throws {
    try await Patience.until {
      server.clock.advance(by: KeyServerLimit.signerSeconds)
      return try await state(server) == expected
    }
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
      try await idle(server)
      #expect(try await server.upload(server.request(server.keys())).status == 200)
      key.set(.isAway)
      for _ in 1...2 {
        server.clock.advance(by: 14_400)
        try await idle(server)
        try await Patience.until { try await state(server) == Self.away }
        #expect(await metric(server) == 1)
        #expect(try await server.get(KeyServerRoute.index).body.isEmpty)
        #expect(try await server.upload(server.request(server.keys())).status == 200)
      }
      try await Patience.until {
        server.server.faults == ["The token is not present: insert it."]
      }
      key.set(.signs)
      server.clock.advance(by: KeyServerLimit.exportRetrySeconds)
      try await Patience.until { try await state(server) == Self.ready }
      try await Patience.until { try await !server.get(KeyServerRoute.index).body.isEmpty }
      #expect(await metric(server) == 0)
    }
  }

  @Test("A key that goes away without a due export is noticed within a minute")
  func noticed() async throws {
    try await run { server in
      try await idle(server)
      try await Patience.until { try await state(server) == Self.ready }
      key.set(.isAway)
      server.clock.advance(by: KeyServerLimit.exportRetrySeconds)
      try await Patience.until { try await state(server) == Self.away }
    }
  }

  @Test(
    "A server starts without the key; the remote configuration follows, and is not signed for each request"
  )
  func start() async throws {
    key.set(.isAway)
    let log = CollectedLog()
    try await run(log: log) { server in
      try await idle(server)
      try await Patience.until { try await state(server) == Self.away }
      let requests = key.requests
      for _ in 1...5 {
        #expect(try await server.get(KeyServerRoute.remoteConfiguration).status == 503)
      }
      #expect(key.requests == requests)
      // The fault of the token is logged, and no error of a request.
      #expect(log.errors == ["The token is not present: insert it."])
      #expect(try await server.upload(server.request(server.keys())).status == 200)
      key.set(.signs)
      try await advance(server, until: Self.ready)
      #expect(try await server.get(KeyServerRoute.remoteConfiguration).status == 200)
    }
  }

  @Test(
    "With a key that does not respond a server starts, accepts uploads and checks its data; the files follow"
  )
  func hanging() async throws {
    key.set(.hangs)
    try await run { server in
      defer { key.set(.signs) }
      #expect(try await server.upload(server.request(server.keys())).status == 200)
      #expect(try await server.get(KeyServerRoute.remoteConfiguration).status == 503)
      try await advance(server, until: Self.away)
      #expect(server.server.faults.contains { $0.contains("does not respond") })
      await server.server.checkStoredData()
      server.clock.advance(by: 14_400)
      await #expect(throws: KeyServerError.self) { try await server.server.exportDue() }
      #expect(try await server.get(KeyServerRoute.index).body.isEmpty)
      #expect(try await server.upload(server.request(server.keys())).status == 200)
      key.set(.signs)
      try await advance(server, until: Self.ready)
      try await Patience.until {
        server.clock.advance(by: KeyServerLimit.signerSeconds)
        return try await !server.get(KeyServerRoute.index).body.isEmpty
      }
      #expect(try await server.get(KeyServerRoute.remoteConfiguration).status == 200)
    }
  }

  @Test("An export whose key stops to respond ends within the limit, and is repeated")
  func hangingExport() async throws {
    try await run { server in
      defer { key.set(.signs) }
      try await idle(server)
      #expect(try await server.upload(server.request(server.keys())).status == 200)
      key.set(.hangsSigning)
      server.clock.advance(by: 14_400)
      try await advance(server, until: Self.away)
      #expect(key.isCalled)
      #expect(try await server.upload(server.request(server.keys())).status == 200)
      key.set(.signs)
      try await Patience.until {
        server.clock.advance(by: KeyServerLimit.signerSeconds)
        return try await !server.get(KeyServerRoute.index).body.isEmpty
      }
      try await advance(server, until: Self.ready)
      // No file without signatures is left.
      let names = try FileManager.default.contentsOfDirectory(
        atPath: server.configuration.exportFolder.path)
      #expect(!names.contains { $0.hasPrefix(".") && $0.contains(".zip") }, "\(names)")
    }
  }

  @Test("A server stops while a key does not respond")
  func stopped() async throws {
    key.set(.hangs)
    try await run { _ in try await Patience.until { key.isCalled } }
    #expect(key.isCalled)
    key.set(.signs)
  }

  @Test("A key that is found and cannot sign stays a fault until it signs")
  func failing() async throws {
    let log = CollectedLog()
    func repairs() -> Int {
      log.lines.count { $0.contains("fault of the signing is repaired") }
    }
    try await run(log: log) { server in
      try await idle(server)
      #expect(try await server.upload(server.request(server.keys())).status == 200)
      key.set(.fails)
      server.clock.advance(by: 14_400)
      try await Patience.until { try await state(server) == Self.away }
      for _ in 1...3 {
        let requests = key.requests
        try await Patience.until {
          server.clock.advance(by: KeyServerLimit.signerSeconds)
          return key.requests > requests + 1
        }
      }
      #expect(try await state(server) == Self.away)
      #expect(repairs() == 0)
      key.set(.signs)
      try await advance(server, until: Self.ready)
      #expect(repairs() == 1)
    }
  }

  @Test("Expired keys are removed from the database while the key of the exports is away")
  func removal() async throws {
    try await run { server in
      try await idle(server)
      #expect(try await server.upload(server.request(server.keys())).status == 200)
      #expect(try server.count("SELECT count(*) FROM diagnosis_key") > 0)
      key.set(.isAway)
      try await Patience.until {
        server.clock.advance(by: 86_400)
        return try server.count("SELECT count(*) FROM diagnosis_key") == 0
      }
      #expect(server.server.faults == ["The token is not present: insert it."])
      #expect(try await server.get(KeyServerRoute.index).body.isEmpty)
    }
  }

  @Test("No transaction is open while a key signs a file")
  func transaction() async throws {
    let (store, folder) = (MemoryKeyStore(), try TemporaryFolder())
    let exports = [StoreScene.export()]
    store.begin(exports, at: StoreScene.now)
    guard
      case .accepted = try await store.accept(StoreScene.upload("token", [StoreScene.key(1)]))
    else {
      Issue.record("the upload was not accepted")
      return
    }
    let wasReading = Mutex<[Bool]>([])
    key.onSigning { wasReading.withLock { $0.append(store.isReadingKeys) } }
    let clock = ManualClock(StoreScene.now.addingTimeInterval(4 * 3_600))
    let exporter = Exporter(
      store: store, folder: try ExportFolder(folder.url), exports: exports,
      signers: ExportSigners { [key] in [ExportSigner(key: key, keyID: "260", keyVersion: "v1")] },
      clock: clock, time: TrustedTime(clock, store), randomness: SystemRandomness(),
      withdrawn: { [] })
    #expect(try await exporter.exportDue().count == 1)
    #expect(wasReading.withLock { $0 } == [false])
  }
}
