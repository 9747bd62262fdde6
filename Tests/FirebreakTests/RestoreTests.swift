// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import ServedSystem
import TestSupport
import Testing
import World

@Suite("Backup and restore of the servers", .needs(.process))
struct RestoreTests {
  private static let files = [
    "keys/settings.json":
      #"{"minimumKeys":0,"paddingRange":0,"deviceVerificationPlatforms":[],"deviceCheck":"#
      + #"{"teamID":"TEAM","keyID":"KEY","keyFile":"device.p8"}}"#,
    "keys/device.p8": P256.Signing.PrivateKey().pemRepresentation,
    "verification/settings.json": #"{"codeLifetime":3600,"tokenLifetime":3600}"#,
  ]

  private func facts(_ data: String) async throws -> [String] {
    var facts: [String] = []
    for command in [
      ["key-server", "signing-key", "list"], ["key-server", "settings"],
      ["verification-server", "signing-key", "list"],
      ["verification-server", "settings"], ["verification-server", "api-token"],
      ["verification-server", "api-key", "list"], ["console", "audit", "verify"],
    ] {
      let run = try await Run(command + ["--data", data, "--json"])
      #expect(run.status == 0, "\(command): \(run.errors)")
      facts.append(run.output)
    }
    return facts
  }

  private func document(_ data: String) async throws -> NSDictionary? {
    try await Run("key-server", "device-configuration", "--data", data, "--json").json()
  }

  @Test("A folder restored from a backup is the same three servers, with their keys and accounts")
  func restored() async throws {
    let served = try await ServedAuthority(Self.files)
    _ = try await served.apiKey("device")
    let data = served.servers.data
    let account = ["console", "account", "add", "--role", "administrator", "--name"]
    #expect(try await Run(account + ["Anna", "--data", data]).status == 0)
    let pin = try await served.pin()
    let before = try await facts(data)
    let copies = served.folder.path("copies").path
    let file = served.folder.path("backup").path
    let run = try await served.run("backup", file, "--json")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    // An account that is added after the backup is not in it.
    #expect(try await Run(account + ["Berta", "--data", data]).status == 0)
    let verified = try await Run("verify-backup", file, "--json")
    #expect(verified.status == 0, "\(verified.errors)")
    let restored = try await Run("restore", file, "--data", copies, "--json")
    #expect(restored.status == 0, "\(restored.errors)")
    #expect(restored.output == verified.output)
    #expect(try await Run("console", "audit", "verify", "--data", copies).status == 0)
    #expect(try await served.servers.stop() == 0)
    #expect(try await facts(copies) == before)
    // The document has a higher version than that which phones may have, and is otherwise the same.
    let document = try await document(data)
    let newer = try await self.document(copies)
    #expect(document?["keys"] as? NSArray == newer?["keys"] as? NSArray)
    let version = try #require(document?["version"] as? Int)
    #expect(try #require(newer?["version"] as? Int) > version)
    for name in [
      "keys/secrets.json", "keys/root-key.pem", "keys/device.p8", "verification/secrets.json",
      "console/secrets.json", "root-public-key.pem", "token-keys.json",
    ] {
      let (old, new) = (served.folder.path("data/\(name)"), served.folder.path("copies/\(name)"))
      #expect(try Data(contentsOf: old) == Data(contentsOf: new), "\(name)")
    }
    try FileManager.default.removeItem(at: served.folder.path("data"))
    try FileManager.default.moveItem(
      at: served.folder.path("copies"), to: served.folder.path("data"))
    let again = try await ServedFirebreak(folder: served.folder)
    let verification = try #require(try await again.addresses()["verification"])
    let response = try await served.post(
      "\(verification)/getAccessToken", #"{"data":{"code":"\#(pin)"}}"#)
    #expect(response.status == 200)
    #expect(try await Run(account + ["Anna", "--data", data]).errors.contains("Anna"))
    #expect(try await Run(account + ["Berta", "--data", data]).status == 0)
    #expect(try await again.stop() == 0)
  }

  @Test("A backup with one changed byte and an incomplete one are refused, and nothing is left")
  func damaged() async throws {
    let folder = try TemporaryFolder()
    let file = try await backup(in: folder)
    let whole = try Data(contentsOf: file)
    let target = folder.path("target")
    let restore = { try await Run("restore", file.path, "--data", target.path) }
    for place in stride(from: 0, to: whole.count, by: whole.count / 12) {
      var changed = whole
      changed[place] ^= 4
      try changed.write(to: file)
      let run = try await restore()
      // Changed padding between two entries is not data.
      #expect(run.status == 2 || run.status == 0 && whole[place] == 0, "\(place): \(run.errors)")
      #expect(try await Run("verify-backup", file.path).status == run.status)
      #expect(run.status == 0 || !FileManager.default.fileExists(atPath: target.path))
      if run.status == 0 { try FileManager.default.removeItem(at: target) }
    }
    try whole.prefix(whole.count / 2).write(to: file)
    #expect(try await restore().status == 2)
    #expect(try await Run("verify-backup", file.path).status == 2)
    try whole.write(to: file)
    #expect(try await restore().status == 0)
    let twice = try await restore()
    #expect(twice.status == 2 && twice.errors.contains("move it away"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: target.path).allSatisfy {
        !$0.contains("restore")
      })
  }

  @Test("If one server of the folder has data, none of the backup is restored")
  func occupied() async throws {
    let folder = try TemporaryFolder()
    let file = try await backup(in: folder)
    let target = folder.path("target")
    try FileManager.default.createDirectory(
      at: target.appendingPathComponent("console"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(
      at: folder.path("data/console/secrets.json"),
      to: folder.path("target/console/secrets.json"))
    let run = try await Run("restore", file.path, "--data", target.path)
    #expect(run.status == 2 && run.errors.contains("target/console has data"), "\(run.errors)")
    let left = folder.files().map(\.path).filter { $0.hasPrefix(target.path) }
    #expect(left == [target.path + "/console/secrets.json"])
  }

  @Test(
    "A folder is moved away under a name that is free, also through a link, with needed files out")
  func movedAway() async throws {
    let folder = try TemporaryFolder()
    let file = try await backup(in: folder)
    let link = folder.path("link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.path("data"))
    let now = Int(SystemClock().now.timeIntervalSince1970)
    for second in now...now + 600 {
      try FileManager.default.createDirectory(
        at: folder.path("data.replaced-\(second)/used"), withIntermediateDirectories: true)
    }
    for _ in 1...2 {
      let run = try await Run("restore", file.path, "--replace", "--data", link.path)
      #expect(run.status == 0 && !run.errors.contains("may be valid again"), "\(run.errors)")
    }
    let moved = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter {
      FileManager.default.fileExists(atPath: folder.path("\($0)/console").path)
    }
    #expect(moved.count == 4 && moved.contains("link") && moved.contains("data"), "\(moved)")
    let key = folder.path("data/root.pem")
    try Data("key".utf8).write(to: key)
    for path in [key.path, link.path + "/root.pem"] {
      let run = try await Run(
        "restore", file.path, "--replace", "--root-key", path, "--data", folder.path("data").path)
      #expect(run.status == 2 && run.errors.contains("move it out"), "\(run.errors)")
    }
  }

  @Test("A folder whose restoration was killed is refused by every command, and not served")
  func killed() async throws {
    let folder = try TemporaryFolder()
    let file = try await backup(in: folder)
    try FileManager.default.createDirectory(
      at: folder.path("data/.restore-1"), withIntermediateDirectories: false)
    for command in [
      ["serve", "--port", "0"], ["verification-server", "api-key", "list"],
      ["backup", folder.path("b").path], ["restore", file.path],
    ] {
      let run = try await Run(command + ["--data", folder.path("data").path])
      #expect(
        run.status == 2 && run.errors.contains("was interrupted"), "\(command): \(run.errors)")
    }
  }

  @Test(
    "Secrets without their database, which may be lost, are an error and not a backup without them")
  func lostDatabase() async throws {
    let folder = try TemporaryFolder()
    _ = try await backup(in: folder)
    try FileManager.default.removeItem(at: folder.path("data/console/console.sqlite"))
    let run = try await Run(
      "backup", folder.path("second").path, "--data", folder.path("data").path)
    #expect(run.status == 2 && run.errors.contains("console.sqlite"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: folder.path("second").path))
  }

  /// The backup of a verification server and a console that have never run.
  private func backup(in folder: TemporaryFolder) async throws -> URL {
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    for command in [
      ["verification-server", "api-key", "add", "--type", "device"],
      ["console", "account", "add", "--name", "Anna", "--role", "issuer"],
    ] { #expect(try await Run(command + ["--data", data]).status == 0) }
    let file = folder.path("backup")
    let run = try await Run("backup", file.path, "--data", data)
    #expect(run.status == 0, "\(run.errors)")
    return file
  }

  @Test("A file outside the folder that the settings name is reported as not included")
  func outside() async throws {
    let folder = try TemporaryFolder()
    let file = folder.path("outside.p8")
    try Data(P256.Signing.PrivateKey().pemRepresentation.utf8).write(to: file)
    try ServedAuthority.write(
      [
        "keys/settings.json":
          #"{"deviceCheck":{"teamID":"TEAM","keyID":"KEY","keyFile":"\#(file.path)"}}"#
      ], in: folder)
    let data = folder.path("data").path
    let authority = ["--issuer", "lab", "--audience", "keys", "--jwks-url", "https://lab.example/"]
    #expect(
      try await Run(["key-server", "authority", "add", "--data", data] + authority).status == 0)
    let run = try await Run(
      "backup", folder.path("backup").path, "--data", data, "--json")
    #expect(run.status == 0 && run.errors.contains("outside.p8"), "\(run.errors)")
    #expect(try run.json()?["notIncluded"] as? [String] == [file.path])
  }
}
