// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// Realms whose databases are in PostgreSQL, with the built program.
@Suite("Realms in PostgreSQL", .needs(.process))
struct RealmClusterTests {
  private static let host = "codes.north.example"

  private let folder: TemporaryFolder
  private let cluster: PrivatePostgreSQL

  init() async throws {
    folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    try Data(#"{"furtherExports": [{"filenameRoot": "de", "region": "DE"}]}"#.utf8)
      .write(to: folder.path("data/keys/settings.json"))
    cluster = try await PrivatePostgreSQL()
    for name in ["verification", "keys", "console", "verification_north", "console_north"] {
      try await cluster.createDatabase("firebreak_\(name)")
    }
    let added = try await Run(
      "realm", "add", "north", "--host", Self.host, "--origin", "https://console.north.example",
      "--region", "DE", "--app", "org.example.north", "--data", folder.path("data").path)
    #expect(added.status == 0, "\(added.errors)")
  }

  /// A busy machine may need longer to connect than an operator would wait.
  private var address: String { cluster.address() + " connect_timeout=60" }

  private func run(_ arguments: String..., in place: TemporaryFolder? = nil) async throws -> Run {
    let data = (place ?? folder).path("data").path
    return try await Run(
      arguments + ["--data", data], environment: ["DATABASE_URL": address])
  }

  /// The status of a request for a code at north with an API token.
  private func generate(_ token: String, at authority: ServedAuthority) async throws -> Int {
    try await LoopbackClient.sendOnce(
      "POST", "\(authority.verification)/generateCode",
      headers: [
        ("host", Self.host), ("content-type", "application/json"), ("api-token", token),
      ], body: Data(#"{"data":{}}"#.utf8)
    ).status
  }

  private func firstToken(of run: Run) throws -> String {
    String(try #require(run.output.split(separator: "\n").first))
  }

  @Test("The databases of each authority are moved to PostgreSQL and back with --realm")
  func move() async throws {
    let files = try await ServedAuthority(in: folder)
    // Without DATABASE_URL, because the data is in files.
    let token = try firstToken(
      of: try await Run(
        "verification-server", "api-token", "--realm", "north", "--data", folder.path("data").path
      ))
    #expect(try await generate(token, at: files) == 200)
    #expect(try await files.servers.stop() == 0)
    let all = try await run("database", "move")
    #expect(all.status == 2 && all.errors.contains("--realm north"), "\(all.errors)")
    let north = try await run("database", "move", "--realm", "north")
    #expect(north.status == 0, "\(north.errors)")
    // One authority in files and one in PostgreSQL are refused.
    let mixed = try await run("serve", "--port", "0")
    #expect(mixed.status == 2 && mixed.errors.contains("database move"), "\(mixed.errors)")
    let main = try await run("database", "move", "--realm", "main")
    #expect(main.status == 0, "\(main.errors)")
    let served = try await ServedAuthority(arguments: ["--database", address], in: folder)
    #expect(try await generate(token, at: served) == 200)
    #expect(try await served.servers.stop() == 0)
    for name in ["north", "main"] {
      let check = try await run("database", "check", "--realm", name)
      #expect(check.status == 0, "\(check.errors)")
      let back = try await run("database", "move", "--to-files", "--realm", name)
      #expect(back.status == 0, "\(back.errors)")
    }
    let again = try await ServedAuthority(in: folder)
    #expect(try await generate(token, at: again) == 200)
    #expect(try await again.servers.stop() == 0)
  }

  @Test("Tokens of a realm that are replaced at one process are refused at the other, twice")
  func processes() async throws {
    let first = try await ServedAuthority(arguments: ["--database", address], in: folder)
    let place = try TemporaryFolder()
    try FileManager.default.copyItem(at: folder.path("data"), to: place.path("data"))
    try FileManager.default.removeItem(at: place.path("data/exports"))
    try FileManager.default.createSymbolicLink(
      at: place.path("data/exports"), withDestinationURL: folder.path("data/exports"))
    let other = try await ServedAuthority(arguments: ["--database", address], in: place)
    for (at, from, to) in [(folder, first, other), (place, other, first)] {
      let old = try firstToken(
        of: try await run("verification-server", "api-token", "--realm", "north", in: at))
      #expect(try await generate(old, at: to) == 200)
      let replaced = try await run(
        "verification-server", "api-token", "--replace", "--realm", "north", in: at)
      #expect(replaced.status == 0, "\(replaced.errors)")
      let new = try firstToken(
        of: try await run("verification-server", "api-token", "--realm", "north", in: at))
      #expect(new != old)
      try await Patience.until { try await generate(old, at: to) == 403 }
      for authority in [from, to] { #expect(try await generate(new, at: authority) == 200) }
    }
    for authority in [first, other] { #expect(try await authority.servers.stop() == 0) }
  }
}
