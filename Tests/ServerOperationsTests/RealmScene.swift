// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import Logging
import Settings
import TestSupport
import Testing
import VerificationAPI
import VerificationServer
import World

@testable import ServerOperations

/// A folder with three authorities: its own, and the realms `north` and `south`.
struct RealmScene {
  static let names = ["north", "south"]
  static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  let folder: TemporaryFolder
  let setup: ServerSetup

  /// Creates the folder, whose exports include the regions of the realms.
  init() throws {
    folder = try TemporaryFolder()
    setup = ServerSetup(folder: try ServerFolder(path: folder.path("data").path)) { _ in }
    let exports = #"""
      {"furtherExports": [{"filenameRoot": "north", "region": "DE"},
       {"filenameRoot": "south", "region": "AT"}, {"filenameRoot": "third", "region": "CZ"}]}
      """#
    try Data(exports.utf8).write(to: setup.folder.keySettings.url)
  }

  /// Adds both realms.
  func addRealms() throws {
    for (name, region) in zip(Self.names, ["DE", "AT"]) {
      _ = try setup.addRealm(
        Self.properties(name, region: region), origin: "https://console.\(name).example",
        issuer: "codes.\(name).example")
    }
  }

  static func properties(
    _ name: String, hosts: [String]? = nil, region: String, app: String? = nil
  ) -> Realm.Properties {
    Realm.Properties(
      name: name, hosts: hosts ?? ["codes.\(name).example"], regions: [region],
      apps: [app ?? "org.example.\(name)"])
  }

  /// The operations on one realm.
  func setup(of name: String) throws -> ServerSetup {
    setup.setup(of: try setup.folder.realm(named: name))
  }

  /// Runs the servers of all authorities as `serve` does.
  func run(_ test: (RunningRealms) async throws -> Void) async throws {
    let served = ServerName.allCases
    let realms = try ServedRealms(of: setup.folder, served)
    defer { withExtendedLifetime(realms) {} }
    try setup.checkRealms(withKeys: true)
    try await setup.prepareConsole(hasVerification: true, logger: Self.logger)
    try await realms.prepare(by: setup, logger: Self.logger)
    let hosted = try realms.verificationServers(by: setup) { _ in Self.logger }
    let verification = try setup.verificationServer(
      host: "127.0.0.1", port: 0, hosted: hosted.routes, logger: Self.logger)
    let keys = try setup.keyServer(logger: Self.logger)
    let consoles = try realms.consoles(
      by: setup, hosts: { _ in "127.0.0.1" }, verification: verification, keys: keys
    ) { _ in Self.logger }
    let console = try setup.console(
      hosts: { _ in "127.0.0.1" }, port: 0, hosted: consoles.routes, verification: verification,
      keys: keys, logger: Self.logger)
    let servers = RunningServers(
      verification: verification, keys: keys, console: console,
      realms: realms.servers(hosted, consoles, by: setup, logger: Self.logger))
    let groups = servers.groups(logger: Self.logger)
    let run = Task { try await groups.run() }
    defer { run.cancel() }
    let ports = try #require(await servers.ports)
    try await test(
      RunningRealms(
        scene: self, verification: verification,
        ports: [
          .verification: ports.verification ?? 0, .keys: ports.keys ?? 0,
          .console: ports.console ?? 0,
        ]))
    await groups.stop()
    _ = await run.result
  }
}

/// The servers of a `RealmScene`, which listen.
struct RunningRealms {
  let scene: RealmScene
  let verification: VerificationServer
  let ports: [ServerName: Int]

  /// The host of the verification server or of the console of a realm; another name for `main`.
  static func host(_ server: ServerName, of name: String) -> String {
    name == Realm.main
      ? "localhost" : server == .console ? "console.\(name).example" : "codes.\(name).example"
  }

  /// Sends a request to a server of a realm.
  func send(
    _ method: String = "POST", _ server: ServerName = .verification, of name: String,
    _ path: String, _ body: String? = nil, type: String = "application/json",
    headers: [(String, String)] = []
  ) async throws -> LoopbackClient.Response {
    let type = body.map { _ in [("content-type", type)] } ?? []
    return try await LoopbackClient.send(
      method, "http://127.0.0.1:\(ports[server] ?? 0)\(path)",
      headers: [("host", Self.host(server, of: name))] + type + headers,
      body: body.map { Data($0.utf8) })
  }

  /// The same with an API key.
  func send(
    of name: String, _ path: String, _ body: String, apiKey: String
  ) async throws -> LoopbackClient.Response {
    try await send(of: name, path, body, headers: [(VerificationRoute.apiKeyHeader, apiKey)])
  }

  /// The operations on a realm, or on the folder's own authority.
  func setup(of name: String) throws -> ServerSetup {
    name == Realm.main ? scene.setup : try scene.setup(of: name)
  }

  /// A new API key of a realm.
  func apiKey(_ kind: APIKeyKind, of name: String) async throws -> String {
    try await setup(of: name).withAPIKeys { try await $0.add(kind: kind, name: "a system") }
  }
}

extension LoopbackClient.Response {
  /// The text in a field of the JSON object.
  func field(_ name: String) -> String? {
    let json = try? JSONSerialization.jsonObject(with: body) as? [String: Any]
    return json?[name] as? String
  }
}
