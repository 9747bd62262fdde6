// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// `firebreak console` and the console of `firebreak serve`, as processes.
@Suite("Console command", .needs(.process))
struct ConsoleCommandTests {
  @Test("An account's credentials are printed once, and a name is taken once")
  func account() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    let add = ["console", "account", "add", "--role", "administrator", "--data", data, "--json"]
    let first = try await Run(add + ["--name", "Anna"])
    let json = try #require(try first.json())
    #expect(first.status == 0 && json["name"] as? String == "Anna")
    #expect((json["password"] as? String)?.count == 24)
    #expect((json["codeAddress"] as? String)?.hasPrefix("otpauth://totp/Firebreak:Anna?") == true)
    let taken = try await Run(add + ["--name", "ANNA"])
    #expect(taken.status == 2 && taken.errors.contains("--name"))
    let bad = try await Run(add + ["--name", "a"])
    #expect(bad.status == 2 && bad.errors.split(separator: "\n").count == 1)
  }

  @Test("The operator disables, enables and recovers an account, and not the last administrator")
  func accountChanges() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    func account(_ arguments: String...) async throws -> Run {
      try await Run(["console", "account"] + arguments + ["--data", data, "--json"])
    }
    let added = try await account("add", "--role", "administrator", "--name", "Anna")
    let last = try await account("disable", "--name", "anna")
    #expect(last.status == 2 && last.errors.contains("last administrator"))
    _ = try await account("add", "--role", "administrator", "--name", "Berta")
    let disabled = try await account("disable", "--name", "Anna")
    #expect(try disabled.json()?["disabled"] as? Bool == true && disabled.status == 0)
    #expect(try await account("enable", "--name", "Anna").json()?["disabled"] as? Bool == false)
    let recovered = try await account("recover", "--name", "Anna")
    let password = try recovered.json()?["password"] as? String
    #expect(try password?.count == 24 && password != added.json()?["password"] as? String)
    let unknown = try await account("recover", "--name", "Cara")
    #expect(unknown.status == 2 && unknown.errors.contains("no account Cara"))
  }

  @Test("The audit log is verified and exported, and a missing end is noticed with --head")
  func audit() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    let add = try await Run(
      "console", "account", "add", "--name", "Anna", "--role", "issuer", "--data", data)
    #expect(add.status == 0, "\(add.errors)")
    let verified = try await Run("console", "audit", "verify", "--data", data, "--json")
    let json = try #require(try verified.json())
    #expect(verified.status == 0 && json["intact"] as? Bool == true)
    let head = try #require(json["head"] as? String)
    let export = try await Run("console", "audit", "export", "--data", data)
    let lines = export.output.split(separator: "\n").map(String.init)
    #expect(export.status == 0 && lines.count == json["entries"] as? Int)
    func status(_ lines: [String], _ arguments: String...) async throws -> Int32 {
      let file = folder.path("audit.jsonl")
      try Data(lines.joined(separator: "\n").utf8).write(to: file)
      // The hashes have a key, which the check derives from the secret in the folder.
      return try await Run(
        ["console", "audit", "verify", file.path, "--data", data] + arguments
      ).status
    }
    #expect(try await status(lines, "--head", head) == 0)
    #expect(try await status(Array(lines.dropLast())) == 0)
    #expect(try await status(Array(lines.dropLast()), "--head", head) == 1)
    #expect(try await status(Array(lines.dropFirst())) == 1)
    let changed = lines.map { $0.replacing("issuer", with: "administrator") }
    #expect(try await status(changed) == 1)
  }

  @Test("The console alone runs on its own folder, and a second one is refused")
  func alone() async throws {
    let folder = try TemporaryFolder()
    let servers = try await ServedFirebreak(folder: folder, ["--only", "console"])
    let addresses = try await servers.addresses()
    #expect(Set(addresses.keys) == ["console"])
    #expect(try await servers.get(addresses["console"], "/").status == 303)
    let second = try await Run(
      "serve", "--only", "console", "--data", servers.data, "--port", "0")
    #expect(second.status == 2 && second.errors.contains("already runs"))
    #expect(try await servers.stop() == 0)
  }

  @Test(
    "Only with an https origin and an explicit option does the console listen where others reach it",
    arguments: [
      (#"{"origin":"http://localhost:8082"}"#, "http://127.0.0.1:"),
      (#"{"origin":"http://localhost:8082","allowsPlainHTTP":true}"#, "http://127.0.0.1:"),
      (#"{"allowsPlainHTTP":true}"#, "http://127.0.0.1:"),
      (#"{"origin":"https://console.example"}"#, "http://127.0.0.1:"),
      (#"{"origin":"https://console.example","allowsPlainHTTP":true}"#, "http://0.0.0.0:"),
    ])
  func host(settings: String, start: String) async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      at: folder.path("data/console"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try Data(settings.utf8)
      .write(to: folder.path("data/console/settings.json"))
    let servers = try await ServedFirebreak(
      folder: folder, ["--only", "console", "--host", "0.0.0.0"])
    let address = try #require(try await servers.addresses()["console"])
    #expect(address.hasPrefix(start), "\(address)")
    #expect(try await servers.stop() == 0)
  }

  @Test("A setting that is not valid is named with its file")
  func settings() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      at: folder.path("data/console"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    for (text, name) in [
      (#"{"origin":"http://console.example"}"#, "origin"), (#"{"color":"red"}"#, "color"),
      (#"{"origin":"https://Console.example"}"#, "origin"),
      (#"{"origin":"https://console.example:443"}"#, "origin"),
      (#"{"verificationURL":"https://verification.example"}"#, "verificationURL"),
    ] {
      try Data(text.utf8).write(to: folder.path("data/console/settings.json"))
      let run = try await Run(
        "serve", "--only", "console", "--data", folder.path("data").path, "--port", "0")
      #expect(run.status == 2 && run.errors.contains("settings.json: \(name)"), "\(run.errors)")
    }
  }
}
