// SPDX-License-Identifier: Apache-2.0
import Crypto
import DiagnosisKeyFile
import Foundation
import KeyServer
import KeyServerAPI
import Synchronization
import TestSupport
import Testing

@Suite("Exports: signing key rotation")
struct SignerRotationTests {
  private static let start = RunningKeyServer.start

  /// Signers with the authority's first key until `thru` and its second from `from`, in hours from the start.
  private static func signers(
    _ authority: Authority, firstThru thru: Double?, secondFrom from: Double?
  ) -> [ExportSigner] {
    func date(_ hours: Double?) -> Date? { hours.map { start.addingTimeInterval($0 * 3_600) } }
    let keys = authority.exportKeys.map(\.pemRepresentation)
    return [
      ExportSigner(
        privateKeyPEM: keys[0], keyID: "260", keyVersion: "v1", validThru: date(thru)),
      ExportSigner(
        privateKeyPEM: keys[1], keyID: "260", keyVersion: "v2", validFrom: date(from)),
    ]
  }

  @Test("A new key signs beside the old one, newest first, until the old one expires")
  func overlap() async throws {
    let authority = Authority()
    let signers = Self.signers(authority, firstThru: 12, secondFrom: 8)
    try await RunningKeyServer.run(
      authority: authority, { $0.exportSigners = signers }
    ) { server in
      for _ in 0..<3 {
        _ = try await server.uploadKeys()
        try await server.exportPeriod()
      }
      let lines = try await server.lines()
      try #require(lines.count == 3)
      // The files of 4, 8 and 12 hours are signed by the old key, by both, and by the new key.
      let old = try await server.published(lines[0], by: 0)
      let both = try await server.published(lines[1], by: 0)
      let new = try await server.published(lines[2], by: 1)
      #expect([old, both, new].map(\.signatures) == [["v1"], ["v2", "v1"], ["v2"]])
      _ = try await server.published(lines[1], by: 1)
      await #expect(throws: KeyFileError.noSignatureByTheseKeys) {
        try await server.published(lines[2], by: 0)
      }
    }
  }

  @Test("The remote configuration is signed by the newest valid key")
  func remoteConfiguration() async throws {
    let authority = Authority()
    let signers = Self.signers(authority, firstThru: nil, secondFrom: 8)
    try await RunningKeyServer.run(
      authority: authority, { $0.exportSigners = signers }
    ) { server in
      func version() async throws -> String? {
        let body = try await server.get(KeyServerRoute.remoteConfiguration).body
        return (try JSONSerialization.jsonObject(with: body) as? [String: Any])?["keyVersion"]
          as? String
      }
      let before = try await version()
      server.clock.advance(by: 8 * 3_600)
      let after = try await version()
      #expect([before, after] == ["v1", "v2"])
    }
  }

  @Test(
    "An added key signs the next file; an export without signers fails and leaves nothing locked")
  func whileRunning() async throws {
    let authority = Authority()
    let current = CurrentSigners(signers: authority.signers)
    try await RunningKeyServer.run(
      authority: authority, { $0.readExportSigners = { current.all } }
    ) { server in
      _ = try await server.uploadKeys()
      try await server.exportPeriod()
      current.set(authority.signers)
      _ = try await server.uploadKeys()
      try await server.exportPeriod()
      let lines = try await server.lines()
      try #require(lines.count == 2)
      #expect(try await server.published(lines[0]).signatures == ["v1"])
      #expect(try await server.published(lines[1]).signatures == ["v1", "v2"])
      current.set([])
      _ = try await server.uploadKeys()
      let error = await #expect(throws: KeyServerError.self) { try await server.exportPeriod() }
      #expect(error?.description.contains("exportSigners") == true)
      current.set(authority.signers)
      try await server.server.exportDue()
      #expect(try await server.lines().count == 3)
    }
  }

  @Test("At most ten keys may be valid at once", arguments: [10, 11])
  func count(count: Int) async throws {
    let signers = (0..<count).map {
      ExportSigner(
        privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, keyID: "260",
        keyVersion: "v\($0)")
    }
    let starts = await Result {
      try await RunningKeyServer.run({ $0.exportSigners = signers }) { _ in }
    }
    let hasStarted = (try? starts.get()) != nil
    #expect(hasStarted == (count == 10))
  }
}

/// Signers that change while the server runs.
private final class CurrentSigners: Sendable {
  private let signers: Mutex<[ExportSigner]>

  init(signers: [ExportSigner]) {
    self.signers = Mutex(Array(signers.prefix(1)))
  }

  var all: [ExportSigner] { signers.withLock { $0 } }
  func set(_ new: [ExportSigner]) { signers.withLock { $0 = new } }
}

extension Result where Failure == any Error {
  fileprivate init(_ work: () async throws -> Success) async {
    do { self = .success(try await work()) } catch { self = .failure(error) }
  }
}
