import Foundation
import TestSupport
import Testing

@Suite("firebreak serve, and its administration")
struct ServeCommandTests {
  private func key(_ report: NSDictionary?, _ index: Int) -> NSDictionary? {
    (report?["keys"] as? [NSDictionary])?[index]
  }

  @Test(
    "The first line says where both servers listen; both answer; a termination ends them with 0")
  func serve() async throws {
    let folder = try TemporaryFolder()
    let servers = try ServedFirebreak(folder: folder)
    defer { servers.kill() }
    let addresses = try await servers.addresses()
    #expect(Set(addresses.keys) == ["verification", "keys"])
    let index = try await servers.get(addresses["keys"], "/index.txt")
    #expect((index.status, index.body.count) == (200, 0))
    let google = try await servers.get(addresses["keys"], "/PL/index.txt")
    #expect(google.status == 200)
    let post = try await servers.get(addresses["verification"], "/getAccessToken")
    #expect(post.status != 200)
    #expect(try await servers.stop() == 0)
    // Whatever holds a secret is its owner's alone.
    for file in folder.files() where !file.path.contains("/exports/") {
      let rights = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
      let isPublic = file.lastPathComponent == "token-keys.json" || file == servers.output
      #expect((rights as? NSNumber)?.intValue == 0o600 || isPublic, "\(file.lastPathComponent)")
    }
  }

  @Test("One server alone says its own address only, and the keys need the tokens' public keys")
  func only() async throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data").path
    let missing = try Run("serve", "--only", "keys", "--data", data, "--port", "0", "--json")
    #expect(missing.status == 2 && missing.errors.contains("token-keys.json"))
    // A file without a key in it would leave a server that refuses every phone.
    for text in ["{}", "[]", "{"] {
      try Data(text.utf8).write(to: folder.path("data/token-keys.json"))
      let empty = try Run("serve", "--only", "keys", "--data", data, "--port", "0", "--json")
      #expect(empty.status == 2 && empty.errors.contains("copy it again"), "\(text)")
    }
    let servers = try ServedFirebreak(folder: folder, ["--only", "verification"])
    defer { servers.kill() }
    #expect(Set(try await servers.addresses().keys) == ["verification"])
    #expect(try await servers.stop() == 0)
  }

  @Test(
    "What is not there yet, and a port that is none, are refused in one line",
    arguments: [
      ["--only", "console"], ["--database", "postgresql://localhost"], ["--port", "65534"],
      ["--port", "-1"], ["--only", "town"],
    ])
  func refused(arguments: [String]) throws {
    let folder = try TemporaryFolder()
    let run = try Run(["serve", "--data", folder.path("data").path] + arguments)
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
  }

  @Test("A port that is taken ends with 3 and says so in one line")
  func portTaken() async throws {
    let folder = try TemporaryFolder()
    let servers = try ServedFirebreak(folder: folder, ["--only", "verification"])
    defer { servers.kill() }
    let address = try #require(try await servers.addresses()["verification"])
    let port = try #require(URL(string: address)?.port)
    let other = folder.path("other").path
    let run = try Run(
      "serve", "--only", "verification", "--data", other, "--port", "\(port)", "--json")
    #expect(run.status == 3 && run.output.isEmpty)
    #expect(run.errors.contains("--port") && run.errors.split(separator: "\n").count == 1)
  }

  @Test("What somebody has to see to is said without being asked for, and nothing else is")
  func errorsAreSaid() async throws {
    let served = try await ServedAuthority(["keys/settings.json": #"{"exportPeriodSeconds": 1}"#])
    #expect(try !served.servers.errors().contains(" error "))
    // A file lies where the folder of exports was.
    try FileManager.default.removeItem(at: served.folder.path("data/exports"))
    try Data().write(to: served.folder.path("data/exports"))
    try await Patience.until { try served.servers.errors().contains("an export failed") }
    #expect(try await served.servers.stop() == 0)
    let errors = try served.servers.errors().split(separator: "\n").filter {
      $0.contains(" error ")
    }
    #expect(!errors.isEmpty)
    for error in errors { #expect(error.contains("[KeyServer]"), "\(error)") }
  }

  @Test("A secrets file that others can read is refused, and so is a damaged one")
  func secretsRights() throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data").path
    #expect(try Run("key-server", "signing-key", "add", "--data", data).status == 0)
    let file = folder.path("data/keys/secrets.json")
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    let open = try Run("key-server", "signing-key", "list", "--data", data)
    #expect(open.status == 2 && open.errors.contains("chmod 600"))
    try Data("{".utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    #expect(try Run("key-server", "signing-key", "list", "--data", data).status == 2)
  }

  @Test("A rotation adds a key and ends the older one after the overlap; no private half is shown")
  func rotation() throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data").path
    for (server, overlap) in [("key-server", 1_209_600), ("verification-server", 86_400)] {
      #expect(try Run(server, "signing-key", "add", "--data", data).status == 0)
      let before = try Run(server, "signing-key", "list", "--data", data, "--json").json()
      #expect(key(before, 0)?["validThru"] == nil && key(before, 1)?["validThru"] == nil)
      let run = try Run(
        server, "signing-key", "rotate", "--from", "2000000000", "--data", data, "--json")
      let after = try run.json()
      #expect(key(after, 0)?["validThru"] as? Int == 2_000_000_000 + overlap)
      #expect(key(after, 1)?["validThru"] as? Int == 2_000_000_000 + overlap)
      #expect(key(after, 2)?["validFrom"] as? Int == 2_000_000_000)
      #expect(key(after, 0)?["publicKey"] as? String == key(before, 0)?["publicKey"] as? String)
      #expect(!run.output.contains("PRIVATE"))
      let added = try Run(server, "signing-key", "add", "--data", data, "--json").json()
      #expect((added?["keys"] as? [NSDictionary])?.count == 4)
    }
  }

  @Test("An API key is shown once, listed by its id, and ended")
  func apiKeys() throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data").path
    let added = try Run(
      "verification-server", "api-key", "add", "--type", "admin", "--name", "clinic", "--data",
      data, "--json")
    let text = try #require(try added.json()?["apiKey"] as? String)
    let list = try Run("verification-server", "api-key", "list", "--data", data, "--json")
    let entry = try #require((try list.json()?["apiKeys"] as? [NSDictionary])?.first)
    let id = try #require(entry["id"] as? String)
    #expect(text.hasPrefix(id) && !list.output.contains(text))
    #expect(entry["type"] as? String == "admin" && entry["name"] as? String == "clinic")
    let revoke = ["verification-server", "api-key", "revoke"]
    #expect(try Run(revoke + [id, "--data", data]).status == 0)
    #expect(try Run(revoke + ["0123456789abcdef", "--data", data]).status == 1)
    let bad = try Run("verification-server", "api-key", "add", "--type", "king", "--data", data)
    #expect(bad.status == 2)
    let useless = try Run(
      "verification-server", "api-key", "add", "--type", "stats", "--data", data)
    #expect(useless.status == 2 && useless.output.isEmpty)
    #expect(useless.errors.contains("opens no route here: take device or admin"))
  }

  @Test("A backup of a server that runs is a whole database; a file that is there stays")
  func backup() async throws {
    let folder = try TemporaryFolder()
    let servers = try ServedFirebreak(folder: folder)
    defer { servers.kill() }
    _ = try await servers.addresses()
    for server in ["key-server", "verification-server"] {
      let file = folder.path("\(server).backup")
      let arguments = [server, "backup", file.path, "--data", servers.data, "--json"]
      let run = try Run(arguments)
      #expect(run.status == 0, "\(run.errors)")
      #expect(try run.json()?["bytes"] as? Int ?? 0 > 0)
      let head = try Data(contentsOf: file).prefix(15)
      #expect(head == Data("SQLite format 3".utf8))
      let again = try Run(arguments)
      #expect(again.status == 2 && again.errors.contains("there already"))
      #expect(
        try Run(server, "backup", folder.path("b").path, "--data", folder.path("none").path).status
          == 2)
    }
    #expect(folder.files().allSatisfy { !$0.lastPathComponent.contains("unfinished") })
    #expect(try await servers.stop() == 0)
  }

  @Test(
    "A backup on a full disk leaves nothing behind",
    .enabled(if: SmallDisk.isAvailable, Comment(rawValue: SmallDisk.absence)))
  func backupOnFullDisk() throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data").path
    let add = ["verification-server", "api-key", "add", "--type", "device", "--data", data]
    #expect(try Run(add).status == 0)
    let disk = try SmallDisk(bytes: 1 << 16)
    _ = disk.fill()
    let file = disk.url.appendingPathComponent("backup")
    let run = try Run("verification-server", "backup", file.path, "--data", data)
    #expect(run.status == 3 && run.errors.split(separator: "\n").count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path) == ["ballast"])
  }

  @Test("An export beside a server that runs takes its turn; where nothing is due it says so")
  func exportNow() async throws {
    let folder = try TemporaryFolder()
    let servers = try ServedFirebreak(folder: folder)
    defer { servers.kill() }
    _ = try await servers.addresses()
    let run = try Run("key-server", "export", "--now", "--data", servers.data, "--json")
    #expect(run.status == 0, "\(run.errors)")
    #expect((try run.json()?["files"] as? [String])?.isEmpty == true)
    #expect(try Run("key-server", "export", "--data", servers.data).status == 2)
    #expect(try Run("key-server", "export", "--now", "--data", folder.path("x").path).status == 2)
    #expect(try await servers.stop() == 0)
  }
}

extension ServeCommandTests {
  @Test(
    "An authority and an app are written down; a key that is none and a region that is none are not"
  )
  func register() throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data").path
    let list = try Run("verification-server", "signing-key", "add", "--data", data, "--json")
      .json()
    let pem = folder.path("public.pem")
    let text = (list?["keys"] as? [NSDictionary])?.first?["publicKey"] as? String
    try Data((text ?? "").utf8).write(to: pem)
    let authority = [
      "key-server", "authority", "add", "--issuer", "clinic", "--audience", "keys", "--key-id",
      "v1",
      "--data", data, "--json", "--public-key",
    ]
    let added = try Run(authority + [pem.path])
    #expect(added.status == 0, "\(added.errors)")
    #expect(try added.json()?["issuer"] as? String == "clinic")
    try Data("no key".utf8).write(to: pem)
    #expect(try Run(authority + [pem.path]).status == 2)
    let page = ["key-server", "authority", "add", "--issuer", "lab", "--audience", "keys"]
    #expect(try Run(page + ["--data", data]).status == 2)
    #expect(
      try Run(page + ["--data", data, "--jwks-url", "http://lab.example/jwks"]).status == 2)
    let read = try Run(
      page + ["--data", data, "--json", "--jwks-url", "https://lab.example/jwks"])
    #expect(try read.json()?["jwksURL"] as? String == "https://lab.example/jwks")
    let app = ["key-server", "app", "add", "org.example", "--data", data, "--authority", "clinic"]
    #expect(try Run(app + ["--region", "PL", "--region", "CZ", "--json"]).status == 0)
    #expect(try Run(app + ["--region", "Poland"]).status == 2)
  }
}
