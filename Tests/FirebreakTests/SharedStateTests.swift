// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing

/// Changes of secrets and rules at one of two `firebreak serve` processes with one PostgreSQL server.
@Suite("Changes that reach all processes", .needs(.process)) struct SharedStateTests {
  private let cluster: PrivatePostgreSQL

  init() async throws {
    cluster = try await PrivatePostgreSQL()
    for server in ["verification", "keys", "console"] {
      try await cluster.createDatabase("firebreak_\(server)")
    }
  }

  /// A busy machine may need longer to connect than an operator would wait.
  private var address: String { cluster.address() + " connect_timeout=60" }
  private var arguments: [String] { ["--database", address] }

  /// Starts a process with the secrets and the root key of `first`, and no device configuration, in a folder with a
  /// link to the key files.
  private func second(beside first: ServedAuthority) async throws -> ServedAuthority {
    let place = try TemporaryFolder()
    for server in ["verification", "keys", "console"] {
      try FileManager.default.createDirectory(
        at: place.path("data/\(server)"), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      for file in ["secrets.json", "settings.json", "root-key.pem"] {
        let source = first.folder.path("data/\(server)/\(file)")
        guard FileManager.default.fileExists(atPath: source.path) else { continue }
        try FileManager.default.copyItem(at: source, to: place.path("data/\(server)/\(file)"))
      }
    }
    try FileManager.default.createSymbolicLink(
      at: place.path("data/exports"), withDestinationURL: first.folder.path("data/exports"))
    return try await ServedAuthority(arguments: arguments, in: place)
  }

  private func run(_ arguments: [String], at authority: ServedAuthority) async throws -> Run {
    let run = try await Run(
      arguments + ["--data", authority.servers.data], environment: ["DATABASE_URL": address])
    #expect(run.status == 0, "\(arguments): \(run.errors)")
    return run
  }

  /// Waits until the served document of `authority` is that of a change, at most a minute on an idle machine.
  private func untilServed(
    by authority: ServedAuthority, _ isChanged: (DeviceConfiguration) -> Bool
  ) async throws {
    try await Patience.until { isChanged(try await authority.servedDocument()) }
  }

  private func generate(_ token: String, at authority: ServedAuthority) async throws -> Int {
    try await authority.post(
      "\(authority.verification)/generateCode", #"{"data":{}}"#, headers: ["api-token": token]
    ).status
  }

  private func tokens(of run: Run) -> [String] {
    run.output.split(separator: "\n").map(String.init)
  }

  @Test(
    "Pause, withdrawal, rotation and revoked tokens at one process are served by the other, twice and after a restart"
  )
  func changes() async throws {
    let first = try await ServedAuthority(arguments: arguments)
    var other = try await second(beside: first)
    #expect(try await other.servedDocument() == first.servedDocument())
    let hash = String(repeating: "ab", count: 32)
    let stolen = try #require(
      tokens(of: try await run(["verification-server", "api-token"], at: first)).first)
    for round in 1...2 {
      // The second time the change is made at the other process.
      let (from, to) = round == 1 ? (first, other) : (other, first)
      _ = try await run(["key-server", "pause"], at: from)
      _ = try await run(["key-server", "withdraw", hash], at: from)
      _ = try await run(["key-server", "signing-key", "rotate"], at: from)
      _ = try await run(["verification-server", "signing-key", "revoke"], at: from)
      _ = try await run(["verification-server", "api-token", "--replace"], at: from)
      try await untilServed(by: to) {
        $0.pause != nil && $0.withdrawn.map(\.description) == [hash] && $0.keys.count == round + 1
      }
      try await Patience.until { try await generate(stolen, at: to) == 403 }
      // A token of the new key is accepted by the key server of the process that made the change.
      #expect(try await from.upload(token: try await to.token()).status == 200)
      _ = try await run(["key-server", "resume"], at: from)
      _ = try await run(["key-server", "withdraw", "--undo", hash], at: from)
      try await untilServed(by: to) { $0.pause == nil && $0.withdrawn.isEmpty }
    }
    // A process that did not run gets the change at its start.
    #expect(try await other.servers.stop() == 0)
    _ = try await run(["key-server", "pause"], at: first)
    other = try await ServedAuthority(arguments: arguments, in: other.folder)
    #expect(try await other.servedDocument().pause != nil)
    for server in [first, other] { #expect(try await server.servers.stop() == 0) }
  }

  @Test("After a revocation at one process, no process has files with the revoked key")
  func revoked() async throws {
    let first = try await ServedAuthority(
      ServedAuthority.frequentExports, arguments: arguments)
    let other = try await second(beside: first)
    for round in 2...3 {
      for authority in [first, other] { try await authority.publishKey() }
      let authority = round == 2 ? first : other
      _ = try await run(["key-server", "signing-key", "revoke"], at: authority)
      try await untilServed(by: round == 2 ? other : first) {
        $0.keys.map(\.keyVersion) == ["v\(round)"]
      }
      // Files that either process has exported meanwhile, too.
      try await other.publishKey()
      for authority in [first, other] { #expect(try await authority.verifiedFileCount() > 0) }
    }
    for server in [first, other] { #expect(try await server.servers.stop() == 0) }
  }
}
