// SPDX-License-Identifier: Apache-2.0
import Crypto
import ExposureKeys
import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing
import World

@Suite("Device configuration of a served key server", .needs(.process))
struct DeviceConfigurationCommandTests {
  /// The document that the server serves, verified with its public root key.
  private func served(_ authority: ServedAuthority) async throws -> DeviceConfiguration {
    let answer = try await authority.servers.get(
      authority.keys, KeyServerRoute.deviceConfiguration)
    try #require(answer.status == 200)
    let pem = try String(
      contentsOf: authority.folder.path("data/root-public-key.pem"), encoding: .utf8)
    return try UnverifiedDeviceConfiguration(decoding: answer.body)
      .verified(by: try RootKey(publicKeyPEM: pem), at: SystemClock().now)
  }

  /// A key file with the server's signature. It is not among the exports, from which the server would remove it.
  private func keyFile(of authority: ServedAuthority) async throws -> URL {
    let start = IntervalNumber(rawValue: UInt32(1_599_955_200 / 600))
    let key = try #require(
      TemporaryExposureKey(bytes: SystemRandomness().bytes(16), rollingStart: start))
    let file = authority.folder.path("withdrawn.zip")
    try await PublishedFiles(of: authority.servers).write(key, end: 1_600_012_800, to: file)
    return file
  }

  private func shown(_ authority: ServedAuthority) async throws -> NSDictionary? {
    try await authority.run("key-server", "device-configuration", "--json").json()
  }

  @Test("The first start makes a root key and a document with the first signing key")
  func firstStart() async throws {
    let authority = try await ServedAuthority()
    let document = try await served(authority)
    let keys = try await authority.run("key-server", "signing-key", "list", "--json").json()
    let key = try #require((keys?["keys"] as? [NSDictionary])?.first)
    #expect(document.version >= Int(document.issued) && document.keys.map(\.keyVersion) == ["v1"])
    #expect(document.keys.first?.publicKey == key["publicKey"] as? String)
    let root = authority.folder.path("data/keys/root-key.pem")
    let rights = try FileManager.default.attributesOfItem(atPath: root.path)[.posixPermissions]
    #expect(rights as? Int == 0o600)
    let shown = try await shown(authority)
    #expect(shown?["version"] as? Int == document.version)
    #expect((shown?["rootPublicKey"] as? String)?.contains("BEGIN PUBLIC KEY") == true)
    let text = try await authority.run("key-server", "device-configuration", "show").output
    #expect(text.contains("Version 1") && !text.contains("PRIVATE"))
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("Pause, resume, withdraw and rotate change the served document at once, one version each")
  func changes() async throws {
    let authority = try await ServedAuthority()
    let first = try await served(authority).version
    #expect(try await authority.run("key-server", "pause", "--until", "4000000000").status == 0)
    #expect(try await served(authority).pause == .init(until: 4_000_000_000))
    #expect(try await authority.run("key-server", "pause").status == 0)
    #expect(try await served(authority).pause == .init(until: nil))
    #expect(try await authority.run("key-server", "resume").status == 0)
    #expect(try await served(authority).pause == nil)
    let file = try await keyFile(of: authority)
    let hash = try #require(KeyFileHash(ofFile: file)).description
    let run = try await authority.run("key-server", "withdraw", file.path, hash, "--json")
    #expect(try run.json()?["withdrawn"] as? [String] == [hash])
    #expect(try await served(authority).withdrawn.map(\.description) == [hash])
    #expect(try await authority.run("key-server", "signing-key", "rotate").status == 0)
    let document = try await served(authority)
    #expect(document.version >= first + 5)
    #expect(document.keys.map(\.keyVersion) == ["v1", "v2"])
    let start = try #require(document.keys.last?.validFrom)
    // The command takes the time before it signs the document.
    let lead = DeviceConfigurationLimit.leadSeconds
    #expect((lead - 60...lead).contains(start - document.issued))
    #expect(document.keys.first?.validThru == start + 14 * 86_400)
    #expect(document.withdrawn.map(\.description) == [hash])
    #expect(
      try await authority.run("key-server", "withdraw", "--undo", file.path).status == 0)
    #expect(try await served(authority).withdrawn.isEmpty)
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("With the root key elsewhere, a rotation without it changes nothing, and with it publishes")
  func offline() async throws {
    let authority = try await ServedAuthority()
    let safe = authority.folder.path("safe.pem")
    try FileManager.default.moveItem(
      at: authority.folder.path("data/keys/root-key.pem"), to: safe)
    let secrets = authority.folder.path("data/keys/secrets.json")
    let before = try Data(contentsOf: secrets)
    let first = try await served(authority).version
    for command in [["signing-key", "rotate"], ["pause"], ["device-configuration", "publish"]] {
      let run = try await Run(["key-server"] + command + ["--data", authority.servers.data])
      #expect(run.status == 2 && run.errors.contains("--root-key"), "\(run.errors)")
    }
    #expect(try Data(contentsOf: secrets) == before)
    #expect(try await served(authority).version == first)
    let rotated = try await authority.run(
      "key-server", "signing-key", "rotate", "--root-key", safe.path)
    #expect(rotated.status == 0, "\(rotated.errors)")
    #expect(try await served(authority).keys.count == 2)
    let published = try await authority.run(
      "key-server", "device-configuration", "publish", "--root-key", safe.path, "--lifetime",
      "86400", "--json")
    let json = try published.json()
    #expect(try #require(json?["version"] as? Int) >= first + 2)
    let (issued, expires) = (json?["issued"] as? Int, json?["expires"] as? Int)
    #expect(expires == issued.map { $0 + 86_400 })
    // Later documents keep the lifetime.
    let paused = try await authority.run("key-server", "pause", "--root-key", safe.path)
    #expect(paused.status == 0)
    let last = try await served(authority)
    #expect(last.pause != nil && last.expires == last.issued + 86_400)
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("A rotation ends also a key that would begin later, and the document stays valid")
  func rotatedTwice() async throws {
    let authority = try await ServedAuthority()
    #expect(try await authority.run("key-server", "signing-key", "rotate").status == 0)
    let now = Int64(SystemClock().now.timeIntervalSince1970)
    let rotated = try await authority.run(
      "key-server", "signing-key", "rotate", "--from", "\(now + 3_600)", "--overlap", "0", "--json")
    #expect(rotated.status == 0, "\(rotated.errors)")
    let document = try await served(authority)
    let begun = Date(timeIntervalSince1970: Double(now + 3_601))
    #expect(document.keys(validAt: begun).map(\.keyVersion) == ["v3"])
    let later = Date(timeIntervalSince1970: Double(now + 5 * 86_400))
    #expect(document.keys(validAt: later).map(\.keyVersion) == ["v3"])
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("Another root key, a bad hash, a bad time and a folder without a document are refused")
  func badInput() async throws {
    let authority = try await ServedAuthority()
    let first = try await served(authority).version
    let other = authority.folder.path("other.pem")
    try Data(P256.Signing.PrivateKey().pemRepresentation.utf8).write(to: other)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: other.path)
    let refused: [([String], String)] = [
      (["pause", "--root-key", other.path], "root-public-key.pem"),
      (["pause", "--root-key", "none.pem"], "none.pem"), (["pause", "--until", "0"], "--until"),
      (["pause", "--until", "1700000000"], "future"),
      (["pause", "--until", "4000000000000"], "Unix seconds"),
      (["withdraw", other.path], "is not a key file"),
      (["withdraw", "no-such-file"], "64 hexadecimal digits"), (["withdraw"], "files"),
      (["device-configuration", "publish", "--lifetime", "86399"], "--lifetime"),
    ]
    for (arguments, text) in refused {
      let run = try await Run(["key-server"] + arguments + ["--data", authority.servers.data])
      #expect(run.status == 2 && run.errors.contains(text), "\(arguments): \(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1)
    }
    #expect(try await served(authority).version == first)
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("A restart signs again if the document lacks a key, and refuses a damaged one")
  func restart() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    #expect(try await Run("key-server", "signing-key", "add", "--data", data).status == 0)
    #expect(try await Run("verification-server", "signing-key", "add", "--data", data).status == 0)
    let file = folder.path("data/keys/device-configuration.json")
    let first = try Data(contentsOf: file)
    #expect(try await Run("key-server", "signing-key", "rotate", "--data", data).status == 0)
    try first.write(to: file)
    #expect(try await Run("key-server", "export", "--now", "--data", data).status == 0)
    let shown = try await Run(
      "key-server", "device-configuration", "--data", data, "--json"
    ).json()
    #expect((shown?["keys"] as? [NSDictionary])?.count == 3)
    try Data("{}".utf8).write(to: file)
    let damaged = try await Run("key-server", "export", "--now", "--data", data)
    #expect(damaged.status == 2 && damaged.errors.contains("device-configuration.json"))
  }
}
