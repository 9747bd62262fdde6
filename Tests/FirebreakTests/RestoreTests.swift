// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("Backup and restore of the servers", .needs(.process))
struct RestoreTests {
  private static let files = [
    "keys/settings.json":
      #"{"minimumKeys":0,"paddingRange":0,"deviceVerificationPlatforms":[],"deviceCheck":"#
      + #"{"teamID":"TEAM","keyID":"KEY","keyFile":"device.p8"}}"#,
    "keys/device.p8": P256.Signing.PrivateKey().pemRepresentation,
    "verification/settings.json": #"{"codeLifetime":3600,"tokenLifetime":3600}"#,
  ]

  private static let servers = ["key-server", "verification-server"]

  private func facts(_ data: String) async throws -> [String] {
    var facts: [String] = []
    for command in [
      ["key-server", "signing-key", "list"], ["key-server", "settings"],
      ["key-server", "device-configuration"], ["verification-server", "signing-key", "list"],
      ["verification-server", "settings"], ["verification-server", "api-token"],
      ["verification-server", "api-key", "list"],
    ] {
      let run = try await Run(command + ["--data", data, "--json"])
      #expect(run.status == 0, "\(command): \(run.errors)")
      facts.append(run.output)
    }
    return facts
  }

  @Test("A new folder restored from one backup of each server is the same servers, with their keys")
  func restored() async throws {
    let served = try await ServedAuthority(Self.files)
    _ = try await served.apiKey("device")
    let pin = try await served.pin()
    let before = try await facts(served.servers.data)
    let copies = served.folder.path("copies").path
    for server in Self.servers {
      let file = served.folder.path("\(server).backup").path
      let run = try await served.run(server, "backup", file, "--json")
      #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
      let restored = try await Run(server, "restore", file, "--data", copies, "--json")
      #expect(restored.status == 0, "\(restored.errors)")
    }
    #expect(try await served.servers.stop() == 0)
    #expect(try await facts(copies) == before)
    for name in [
      "keys/secrets.json", "keys/root-key.pem", "keys/device.p8", "verification/secrets.json",
      "root-public-key.pem", "token-keys.json",
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
    #expect(try await again.stop() == 0)
  }

  @Test("A backup with one changed byte, an incomplete one and that of another server are refused")
  func damaged() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    for server in Self.servers {
      #expect(try await Run(server, "signing-key", "add", "--data", data).status == 0)
    }
    let key = ["verification-server", "api-key", "add", "--type", "device", "--data", data]
    #expect(try await Run(key).status == 0)
    let file = folder.path("backup")
    #expect(
      try await Run("verification-server", "backup", file.path, "--data", data).status == 0)
    let whole = try Data(contentsOf: file)
    let target = folder.path("target")
    let restore = { (server: String) in
      try await Run(server, "restore", file.path, "--data", target.path)
    }
    for place in stride(from: 0, to: whole.count, by: whole.count / 12) {
      var changed = whole
      changed[place] ^= 4
      try changed.write(to: file)
      let run = try await restore("verification-server")
      // Changed padding between two entries is not data.
      #expect(run.status == 2 || run.status == 0 && whole[place] == 0, "\(place): \(run.errors)")
      #expect(run.status == 0 || !FileManager.default.fileExists(atPath: target.path))
      if run.status == 0 { try FileManager.default.removeItem(at: target) }
    }
    try whole.prefix(whole.count / 2).write(to: file)
    #expect(try await restore("verification-server").status == 2)
    try whole.write(to: file)
    let other = try await restore("key-server")
    #expect(other.status == 2 && other.errors.contains("`verification`"), "\(other.errors)")
    #expect(try await restore("verification-server").status == 0)
    let twice = try await restore("verification-server")
    #expect(twice.status == 2 && twice.errors.contains("move it away"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: target.path).allSatisfy {
        !$0.contains("restore")
      })
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
      "key-server", "backup", folder.path("backup").path, "--data", data, "--json")
    #expect(run.status == 0 && run.errors.contains("outside.p8"), "\(run.errors)")
    #expect(try run.json()?["notIncluded"] as? [String] == [file.path])
  }
}
