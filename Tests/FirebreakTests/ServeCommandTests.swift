// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("firebreak serve and its administration", .needs(.process))
struct ServeCommandTests {
  private func key(_ report: NSDictionary?, _ index: Int) -> NSDictionary? {
    (report?["keys"] as? [NSDictionary])?[index]
  }

  @Test(
    "The first line has the addresses of all servers; they respond; SIGTERM ends them with 0")
  func serve() async throws {
    let folder = try TemporaryFolder()
    let servers = try await ServedFirebreak(folder: folder)
    defer { withExtendedLifetime(servers) {} }
    let addresses = try await servers.addresses()
    #expect(Set(addresses.keys) == ["verification", "keys", "console"])
    let index = try await servers.get(addresses["keys"], "/index.txt")
    #expect((index.status, index.body.count) == (200, 0))
    let google = try await servers.get(addresses["keys"], "/PL/index.txt")
    #expect(google.status == 200)
    #expect(try await servers.get(addresses["console"], "/sign-in").status == 200)
    let post = try await servers.get(addresses["verification"], "/getAccessToken")
    #expect(post.status != 200)
    #expect(try await servers.stop() == 0)
    // Only the owner can read files with secrets.
    for file in folder.files() where !file.path.contains("/exports/") {
      let permissions = try FileManager.default.attributesOfItem(atPath: file.path)[
        .posixPermissions]
      let isPublic =
        ["token-keys.json", "root-public-key.pem"].contains(file.lastPathComponent)
        || file == servers.output
      #expect(
        (permissions as? NSNumber)?.intValue == 0o600 || isPublic, "\(file.lastPathComponent)")
    }
  }

  @Test(
    "One server alone prints its own address only, and the key server needs the tokens' public keys"
  )
  func only() async throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data").path
    let missing = try await Run("serve", "--only", "keys", "--data", data, "--port", "0", "--json")
    #expect(missing.status == 2 && missing.errors.contains("token-keys.json"))
    // With a file without a key, the server would reject every upload.
    for text in ["{}", "[]", "{"] {
      try Data(text.utf8).write(to: folder.path("data/token-keys.json"))
      let empty = try await Run("serve", "--only", "keys", "--data", data, "--port", "0", "--json")
      #expect(empty.status == 2 && empty.errors.contains("copy it again"), "\(text)")
    }
    let servers = try await ServedFirebreak(folder: folder, ["--only", "verification"])
    defer { withExtendedLifetime(servers) {} }
    #expect(Set(try await servers.addresses().keys) == ["verification"])
    #expect(try await servers.stop() == 0)
  }

  @Test(
    "Unsupported options and invalid ports are refused in one line",
    arguments: [
      ["--database", "mysql://localhost"], ["--port", "65534"],
      ["--port", "-1"], ["--only", "town"],
    ])
  func refused(arguments: [String]) async throws {
    let folder = try TemporaryFolder()
    let run = try await Run(["serve", "--data", folder.path("data").path] + arguments)
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
  }

  @Test("A port in use ends the command with 3 and one line")
  func portTaken() async throws {
    let folder = try TemporaryFolder()
    let servers = try await ServedFirebreak(folder: folder, ["--only", "verification"])
    defer { withExtendedLifetime(servers) {} }
    let address = try #require(try await servers.addresses()["verification"])
    let port = try #require(URL(string: address)?.port)
    let other = folder.path("other").path
    let run = try await Run(
      "serve", "--only", "verification", "--data", other, "--port", "\(port)", "--json")
    #expect(run.status == 3 && run.output.isEmpty)
    #expect(run.errors.contains("--port") && run.errors.split(separator: "\n").count == 1)
  }

  @Test(
    "A host that is not this machine is named in the error", arguments: ["999.1.1.1", "192.0.2.1"])
  func otherHost(host: String) async throws {
    let folder = try TemporaryFolder()
    let run = try await Run([
      "serve", "--only", "verification", "--data", folder.path("data").path, "--port", "0",
      "--host", host,
    ])
    #expect(run.status == 3)
    #expect(
      run.errors.contains("The host \(host) is not an address of this machine"), "\(run.errors)")
  }

  @Test("The servers' own errors are logged by default, and nothing else")
  func errorsAreLogged() async throws {
    let served = try await ServedAuthority(["keys/settings.json": #"{"exportPeriodSeconds": 1}"#])
    #expect(try !served.servers.errors().contains(" error "))
    // A file in place of the export folder, which the export of each second may create again.
    let exports = served.folder.path("data/exports")
    try await Patience.until {
      try? FileManager.default.removeItem(at: exports)
      return (try? Data().write(to: exports)) != nil
    }
    try await Patience.until { try served.servers.errors().contains("an export failed") }
    #expect(try await served.servers.stop() == 0)
    let errors = try served.servers.errors().split(separator: "\n").filter {
      $0.contains(" error ")
    }
    #expect(!errors.isEmpty)
    for error in errors { #expect(error.contains("[KeyServer]"), "\(error)") }
  }

  @Test("A secrets file that others can read or that is damaged is refused")
  func secretsPermissions() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    #expect(try await Run("key-server", "signing-key", "add", "--data", data).status == 0)
    let file = folder.path("data/keys/secrets.json")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    let open = try await Run("key-server", "signing-key", "list", "--data", data)
    #expect(open.status == 2 && open.errors.contains("chmod 600"))
    try Data("{".utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    #expect(try await Run("key-server", "signing-key", "list", "--data", data).status == 2)
  }

  @Test("A rotation adds a key and ends the older ones after the overlap; no private key is shown")
  func rotation() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    for (server, overlap) in [("key-server", 1_209_600), ("verification-server", 86_400)] {
      #expect(try await Run(server, "signing-key", "add", "--data", data).status == 0)
      let before = try await Run(server, "signing-key", "list", "--data", data, "--json").json()
      #expect(key(before, 0)?["validThru"] == nil && key(before, 1)?["validThru"] == nil)
      let run = try await Run(
        server, "signing-key", "rotate", "--from", "2000000000", "--data", data, "--json")
      let after = try run.json()
      #expect(key(after, 0)?["validThru"] as? Int == 2_000_000_000 + overlap)
      #expect(key(after, 1)?["validThru"] as? Int == 2_000_000_000 + overlap)
      #expect(key(after, 2)?["validFrom"] as? Int == 2_000_000_000)
      #expect(key(after, 0)?["publicKey"] as? String == key(before, 0)?["publicKey"] as? String)
      #expect(!run.output.contains("PRIVATE"))
      let added = try await Run(server, "signing-key", "add", "--data", data, "--json").json()
      #expect((added?["keys"] as? [NSDictionary])?.count == 4)
    }
  }

  @Test("An API key is shown once, listed by its id, and revoked")
  func apiKeys() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    let added = try await Run(
      "verification-server", "api-key", "add", "--type", "admin", "--name", "clinic", "--data",
      data, "--json")
    let text = try #require(try added.json()?["apiKey"] as? String)
    let list = try await Run("verification-server", "api-key", "list", "--data", data, "--json")
    let entry = try #require((try list.json()?["apiKeys"] as? [NSDictionary])?.first)
    let id = try #require(entry["id"] as? String)
    #expect(text.hasPrefix(id) && !list.output.contains(text))
    #expect(entry["type"] as? String == "admin" && entry["name"] as? String == "clinic")
    let revoke = ["verification-server", "api-key", "revoke"]
    #expect(try await Run(revoke + [id, "--data", data]).status == 0)
    #expect(try await Run(revoke + ["0123456789abcdef", "--data", data]).status == 1)
    let bad = try await Run(
      "verification-server", "api-key", "add", "--type", "king", "--data", data)
    #expect(bad.status == 2)
    let reader = try await Run(
      "verification-server", "api-key", "add", "--type", "stats", "--data", data)
    #expect(reader.status == 0 && reader.output.count == 61)
  }

  @Test("A backup of a running server is one private file; an existing file is not replaced")
  func backup() async throws {
    let folder = try TemporaryFolder()
    let servers = try await ServedFirebreak(folder: folder)
    defer { withExtendedLifetime(servers) {} }
    _ = try await servers.addresses()
    let file = folder.path("backup")
    let arguments = ["backup", file.path, "--data", servers.data, "--json"]
    let run = try await Run(arguments)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try run.json()?["bytes"] as? Int ?? 0 > 0)
    #expect(try run.json()?["servers"] as? [String] == ["verification", "keys", "console"])
    let rights = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(rights[.posixPermissions] as? Int == 0o600)
    #expect(try Data(contentsOf: file).range(of: Data("SQLite format 3".utf8)) != nil)
    let again = try await Run(arguments)
    #expect(again.status == 2 && again.errors.contains("exists"))
    let other = ["backup", folder.path("b").path, "--data", folder.path("none").path]
    #expect(try await Run(other).status == 2)
    #expect(folder.files().allSatisfy { !$0.lastPathComponent.contains("unfinished") })
    #expect(try await servers.stop() == 0)
  }

  @Test(
    "A backup on a full disk leaves no file",
    .needs(.smallDisk))
  func backupOnFullDisk() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    let add = ["verification-server", "api-key", "add", "--type", "device", "--data", data]
    #expect(try await Run(add).status == 0)
    let disk = try SmallDisk(bytes: 1 << 16)
    _ = disk.fill()
    let file = disk.url.appendingPathComponent("backup")
    let run = try await Run("backup", file.path, "--data", data)
    #expect(run.status == 3 && run.errors.split(separator: "\n").count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path) == ["ballast"])
  }

  @Test("An export next to a running server succeeds, also if none is due")
  func exportNow() async throws {
    let folder = try TemporaryFolder()
    let servers = try await ServedFirebreak(folder: folder)
    defer { withExtendedLifetime(servers) {} }
    _ = try await servers.addresses()
    let run = try await Run("key-server", "export", "--now", "--data", servers.data, "--json")
    #expect(run.status == 0, "\(run.errors)")
    #expect((try run.json()?["files"] as? [String])?.isEmpty == true)
    #expect(try await Run("key-server", "export", "--data", servers.data).status == 2)
    #expect(
      try await Run("key-server", "export", "--now", "--data", folder.path("x").path).status == 2)
    #expect(try await servers.stop() == 0)
  }
}

extension ServeCommandTests {
  @Test(
    "A valid authority and app are registered; an invalid key or region is refused"
  )
  func register() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    let list = try await Run("verification-server", "signing-key", "add", "--data", data, "--json")
      .json()
    let pem = folder.path("public.pem")
    let text = (list?["keys"] as? [NSDictionary])?.first?["publicKey"] as? String
    try Data((text ?? "").utf8).write(to: pem)
    let authority = [
      "key-server", "authority", "add", "--issuer", "clinic", "--audience", "keys", "--key-id",
      "v1",
      "--data", data, "--json", "--public-key",
    ]
    let added = try await Run(authority + [pem.path])
    #expect(added.status == 0, "\(added.errors)")
    #expect(try added.json()?["issuer"] as? String == "clinic")
    try Data("no key".utf8).write(to: pem)
    #expect(try await Run(authority + [pem.path]).status == 2)
    let page = ["key-server", "authority", "add", "--issuer", "lab", "--audience", "keys"]
    #expect(try await Run(page + ["--data", data]).status == 2)
    #expect(
      try await Run(page + ["--data", data, "--jwks-url", "http://lab.example/jwks"]).status == 2)
    let read = try await Run(
      page + ["--data", data, "--json", "--jwks-url", "https://lab.example/jwks"])
    #expect(try read.json()?["jwksURL"] as? String == "https://lab.example/jwks")
    let app = ["key-server", "app", "add", "org.example", "--data", data, "--authority", "clinic"]
    #expect(try await Run(app + ["--region", "PL", "--region", "CZ", "--json"]).status == 0)
    #expect(try await Run(app + ["--region", "Poland"]).status == 2)
  }
}
