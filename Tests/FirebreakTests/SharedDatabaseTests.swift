// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// Several `firebreak serve` processes on one PostgreSQL server.
@Suite("Servers with a shared database", .needs(.process)) struct SharedDatabaseTests {
  private let cluster: PrivatePostgreSQL

  init() async throws {
    cluster = try await PrivatePostgreSQL()
    for server in Self.servers { try await cluster.createDatabase("firebreak_\(server)") }
  }

  private static let servers = ["verification", "keys", "console"]

  private var arguments: [String] { ["--database", address] }
  /// A busy machine may need longer to connect than an operator would wait.
  private var address: String { cluster.address() + " connect_timeout=60" }

  /// Starts a second process with the secrets of `first`, in a folder of its own with a link to the key files.
  private func second(
    beside first: ServedAuthority, _ arguments: [String]? = nil
  ) async throws -> ServedAuthority {
    let place = try TemporaryFolder()
    try FileManager.default.copyItem(at: first.folder.path("data"), to: place.path("data"))
    let exports = place.path("data/exports")
    try FileManager.default.removeItem(at: exports)
    try FileManager.default.createSymbolicLink(
      at: exports, withDestinationURL: first.folder.path("data/exports"))
    return try await ServedAuthority(arguments: arguments ?? self.arguments, in: place)
  }

  @Test("A code and a token are used once, on whichever process they arrive")
  func shared() async throws {
    let first = try await ServedAuthority(arguments: arguments)
    let second = try await second(beside: first)
    let apiToken = try await first.run("verification-server", "api-token").output
      .split(separator: "\n").first.map(String.init)
    let code = try await first.post(
      "\(first.verification)/generateCode", #"{"data":{}}"#,
      headers: ["api-token": apiToken ?? ""])
    #expect(code.status == 200)
    let body = #"{"data":{"code":"\#(code.json["result"] as? String ?? "")"}}"#
    let response = try await second.post("\(second.verification)/getAccessToken", body)
    let result = try #require(response.json["result"] as? [String: Any])
    let token = try #require(result["accessToken"] as? String)
    // The same request gets the same token from the other process.
    let again = try await first.post("\(first.verification)/getAccessToken", body)
    #expect((again.json["result"] as? [String: Any])?["accessToken"] as? String == token)
    // Two uploads with one token, to different processes: each makes keys of its own.
    #expect(try await first.upload(token: token).status == 200)
    #expect(try await second.upload(token: token).status != 200)
    let other = try await second.token()
    #expect(try await first.upload(token: other).status == 200)
  }

  @Test("A process with other secrets, without a database or with a wrong address does not start")
  func refused() async throws {
    let first = try await ServedAuthority(arguments: arguments)
    let folder = try TemporaryFolder()
    let other = try await Run(
      ["serve", "--port", "0", "--data", folder.path("data").path] + arguments)
    #expect(other.status == 2, "\(other.errors)")
    #expect(other.errors.contains("does not belong to the database firebreak_"))
    let console = try await Run(
      ["serve", "--only", "console", "--port", "0", "--data", folder.path("console").path]
        + arguments)
    #expect(console.status == 2, "\(console.errors)")
    #expect(console.errors.contains("does not belong to the database firebreak_console"))
    #expect(try await first.servers.stop() == 0)
    let absent = try await Run([
      "serve", "--port", "0", "--data", first.servers.data, "--database",
      "host=\(folder.url.path) user=postgres",
    ])
    #expect(absent.status == 3, "\(absent.errors)")
    #expect(absent.errors.contains("did not answer"))
    let wrong = try await Run([
      "serve", "--port", "0", "--data", first.servers.data, "--database", "mysql://u:secret@h/",
    ])
    #expect(wrong.status == 2 && !wrong.errors.contains("secret"))
  }

  @Test("Of two processes one closes a period, and both serve its file")
  func exported() async throws {
    // Both uploads are in one period.
    let offset = ServedAuthority.clockOffset(within: 14_400, margin: 300)
    let now = arguments + ["--developer", "--clock-offset", "\(offset)"]
    let first = try await ServedAuthority(arguments: now)
    let second = try await second(beside: first, now)
    for server in [first, second] {
      #expect(try await server.upload(token: try await server.token()).status == 200)
    }
    for server in [first, second] { #expect(try await server.servers.stop() == 0) }
    // The period of four hours has ended.
    let later = arguments + ["--developer", "--clock-offset", "\(offset + 5 * 3_600)"]
    // Both start at one time.
    let servers = [
      try await ServedFirebreak(folder: first.folder, later),
      try await ServedFirebreak(folder: second.folder, later),
    ]
    var addresses: [String?] = []
    for server in servers { addresses.append(try await server.addresses()["keys"]) }
    let index = first.folder.path("data/exports/index.txt")
    try await Patience.until { try !Data(contentsOf: index).isEmpty }
    for (server, keys) in zip(servers, addresses) {
      let served = try await server.get(keys, "/index.txt")
      #expect(try served.body == Data(contentsOf: index))
      let lines = String(decoding: served.body, as: UTF8.self).split(separator: "\n")
      #expect(lines.count == 1)
      for line in lines {
        #expect(try await server.get(keys, "/\(line)").status == 200)
      }
    }
    for server in servers { #expect(try await server.stop() == 0) }
    let names = try FileManager.default.contentsOfDirectory(
      atPath: first.folder.path("data/exports").path)
    #expect(names.count { $0.hasSuffix(".zip") } == 1, "\(names)")
  }

  @Test("A folder whose data is in PostgreSQL is not used without it, and the other way round")
  func kinds() async throws {
    let first = try await ServedAuthority(arguments: arguments)
    let data = first.servers.data
    let list = ["verification-server", "api-key", "list", "--data", data]
    let without = try await Run(list)
    #expect(without.status == 2 && without.errors.contains("set DATABASE_URL"), "\(without.errors)")
    let backup = try await Run(["backup", first.folder.path("b").path, "--data", data])
    #expect(backup.status == 2 && backup.errors.contains("set DATABASE_URL"), "\(backup.errors)")
    let clock = try await Run(
      ["clock", "--data", data], environment: ["DATABASE_URL": address])
    #expect(clock.status == 0, "\(clock.errors)")
    #expect(try await first.servers.stop() == 0)
    let serve = try await Run(["serve", "--port", "0", "--data", data])
    #expect(serve.status == 2 && serve.errors.contains("set DATABASE_URL"), "\(serve.errors)")
    let other = try await ServedAuthority()
    #expect(try await other.servers.stop() == 0)
    let mixed = try await Run(
      ["serve", "--port", "0", "--data", other.servers.data] + arguments)
    #expect(mixed.status == 2 && mixed.errors.contains("database move"), "\(mixed.errors)")
  }

  @Test(
    "After a move from SQLite, tokens stay used and files stay listed; a second move is refused")
  func moved() async throws {
    let before = try await ServedAuthority()
    let data = before.servers.data
    let (used, unused) = (try await before.token(), try await before.token())
    #expect(try await before.upload(token: used).status == 200)
    let move = ["database", "move", "--json", "--data", data] + arguments
    let running = try await Run(move)
    #expect(running.status == 2 && running.errors.contains("already runs"), "\(running.errors)")
    #expect(try await before.servers.stop() == 0)
    let moved = try await Run(move)
    #expect(moved.status == 0, "\(moved.errors)")
    let rows = try moved.json()?["rows"] as? [String: [String: Int]]
    #expect(rows?["keys"]?["diagnosis_key"] == 1 && rows?["keys"]?["upload"] == 1)
    #expect(rows?["verification"]?["issue"] == 2 && rows?["verification"]?["exchange"] != nil)
    let again = try await Run(move)
    #expect(again.status == 2 && again.errors.contains("no databases to move"), "\(again.errors)")
    let after = try await ServedAuthority(arguments: arguments, in: before.folder)
    #expect(try await after.upload(token: used).status != 200)
    #expect(try await after.upload(token: unused).status == 200)
    #expect(try await after.upload(token: try await after.token()).status == 200)
  }

  @Test("After a move to another cluster and back to files, tokens stay used and uploads go on")
  func movedBack() async throws {
    let first = try await ServedAuthority(arguments: arguments)
    let data = first.servers.data
    let (used, unused) = (try await first.token(), try await first.token())
    #expect(try await first.upload(token: used).status == 200)
    let other = try await PrivatePostgreSQL()
    for server in Self.servers { try await other.createDatabase("firebreak_\(server)") }
    let move = ["database", "move", "--json", "--data", data] + arguments
    let running = try await Run(move + ["--target", other.address()])
    #expect(running.status == 2 && running.errors.contains("already runs"), "\(running.errors)")
    #expect(try await first.servers.stop() == 0)
    let moved = try await Run(move + ["--target", other.address()])
    #expect(moved.status == 0, "\(moved.errors)")
    // As after an interruption between two databases: those that were moved are left out.
    let again = try await Run(move + ["--target", other.address()])
    #expect(again.status == 0, "\(again.errors)")
    #expect((try again.json()?["rows"] as? [String: Any])?.isEmpty == true, "\(again.output)")
    let old = try await Run(["serve", "--port", "0", "--data", data] + arguments)
    #expect(old.status == 2 && old.errors.contains("is empty"), "\(old.errors)")
    let second = try await ServedAuthority(
      arguments: ["--database", other.address()], in: first.folder)
    #expect(try await second.upload(token: used).status != 200)
    #expect(try await second.upload(token: unused).status == 200)
    #expect(try await second.servers.stop() == 0)
    let back = try await Run(
      ["database", "move", "--to-files", "--json", "--data", data, "--database", other.address()])
    #expect(back.status == 0, "\(back.errors)")
    let rows = try back.json()?["rows"] as? [String: [String: Int]]
    #expect(rows?["keys"]?["diagnosis_key"] == 2 && rows?["verification"]?["issue"] == 2)
    let third = try await ServedAuthority(in: first.folder)
    for token in [used, unused] {
      #expect(try await third.upload(token: token).status != 200)
    }
    #expect(try await third.upload(token: try await third.token()).status == 200)
  }

  @Test("If one of two databases has data, none is moved; a moved file that came back is named")
  func refusedMove() async throws {
    let first = try await ServedAuthority()
    let second = try await ServedAuthority()
    for authority in [first, second] { #expect(try await authority.servers.stop() == 0) }
    let moved = try await Run(
      ["database", "move", "--json", "--data", first.servers.data] + arguments)
    #expect(moved.status == 0, "\(moved.errors)")
    // Now only the second database has data.
    try await cluster.emptyDatabase("firebreak_verification")
    let refused = try await Run(["database", "move", "--data", second.servers.data] + arguments)
    #expect(
      refused.status == 2 && refused.errors.contains("firebreak_keys has data already"),
      "\(refused.errors)")
    #expect(try await cluster.run("SELECT count(*) FROM issue", in: "firebreak_verification") == 0)
    let again = try await ServedAuthority(in: second.folder)
    #expect(try await again.upload(token: try await again.token()).status == 200)
    // As after an interruption of the renaming.
    for file in try #require(try moved.json()?["files"] as? [String]) {
      let original = String(file.dropLast(".moved".count))
      try FileManager.default.copyItem(atPath: file, toPath: original)
    }
    for arguments in [["serve", "--port", "0"], ["database", "move"]] {
      let run = try await Run(arguments + ["--data", first.servers.data] + self.arguments)
      #expect(run.status == 2 && run.errors.contains("rename the file to"), "\(run.errors)")
    }
  }

  @Test("An empty database of servers that had another is refused, and nothing is created in it")
  func emptied() async throws {
    let first = try await ServedAuthority(arguments: arguments)
    #expect(try await first.servers.stop() == 0)
    for server in Self.servers { try await cluster.emptyDatabase("firebreak_\(server)") }
    let data = first.servers.data
    let key = ["verification-server", "api-key", "add", "--type", "stats", "--data", data]
    let runs = [
      try await Run(["serve", "--port", "0", "--data", data] + arguments),
      try await Run(key, environment: ["DATABASE_URL": address]),
      try await Run(["clock", "--data", data], environment: ["DATABASE_URL": address]),
      try await Run(
        ["console", "audit", "verify", "--data", data], environment: ["DATABASE_URL": address]),
      try await Run(
        ["console", "account", "add", "--name", "Anna", "--role", "issuer", "--data", data],
        environment: ["DATABASE_URL": address]),
    ]
    for run in runs {
      #expect(run.status == 2 && run.errors.contains("delete postgresql.json"), "\(run.errors)")
    }
    for server in Self.servers {
      let tables = try await cluster.run(
        "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", in: "firebreak_\(server)")
      #expect(tables == 0)
    }
  }

  @Test("Accounts and the audit log of the console are those of both processes, also after moves")
  func console() async throws {
    let first = try await ServedAuthority(arguments: arguments)
    let second = try await second(beside: first)
    let data = [first.servers.data, second.servers.data]
    func console(_ arguments: [String], in data: String) async throws -> Run {
      try await Run(
        ["console"] + arguments + ["--data", data], environment: ["DATABASE_URL": address])
    }
    func add(_ name: String, in data: String) async throws -> Run {
      try await console(
        ["account", "add", "--name", name, "--role", "administrator"], in: data)
    }
    for (name, data) in zip(["Anna", "Berta"], data) {
      let run = try await add(name, in: data)
      #expect(run.status == 0, "\(run.errors)")
    }
    let taken = try await add("anna", in: data[1])
    #expect(taken.status == 2 && taken.errors.contains("There is an account"), "\(taken.errors)")
    var heads: Set<String> = []
    for data in data {
      let run = try await console(["audit", "verify", "--json"], in: data)
      #expect(run.status == 0, "\(run.errors)")
      heads.insert(try run.json()?["head"] as? String ?? "")
    }
    #expect(heads.count == 1 && heads != [""])
    let without = try await Run(["console", "audit", "verify", "--data", data[0]])
    #expect(without.status == 2 && without.errors.contains("set DATABASE_URL"), "\(without.errors)")
    for server in [first, second] { #expect(try await server.servers.stop() == 0) }
    let back = try await Run(
      ["database", "move", "--to-files", "--json", "--data", data[0]] + arguments)
    #expect(back.status == 0, "\(back.errors)")
    let rows = try back.json()?["rows"] as? [String: [String: Int]]
    #expect(rows?["console"]?["account"] == 2, "\(back.output)")
    let inFile = try await Run(["console", "audit", "verify", "--json", "--data", data[0]])
    #expect(try inFile.json()?["head"] as? String == heads.first, "\(inFile.errors)")
  }

  @Test("A withdrawal is stored in the shared database, and removed when it ends")
  func withdrawn() async throws {
    let first = try await ServedAuthority(arguments: arguments)
    let file = String(repeating: "ab", count: 32)
    let withdraw = ["key-server", "withdraw", file, "--data", first.servers.data]
    for (options, count) in [([], 1), ([], 1), (["--undo"], 0)] as [([String], Int64)] {
      let run = try await Run(
        withdraw + options, environment: ["DATABASE_URL": address])
      #expect(run.status == 0, "\(run.errors)")
      let stored = try await cluster.run(
        "SELECT count(*) FROM withdrawn_file WHERE sha256 = decode('\(file)', 'hex')",
        in: "firebreak_keys")
      #expect(stored == count)
    }
  }

  @Test("A command names the database that cannot be reached, and not a disk")
  func unreachable() async throws {
    let first = try await ServedAuthority(arguments: arguments)
    #expect(try await first.servers.stop() == 0)
    try await cluster.kill()
    let (list, environment) = (
      ["verification-server", "api-key", "list", "--data", first.servers.data],
      ["DATABASE_URL": address]
    )
    let add = list.map { $0 == "list" ? "add" : $0 } + ["--type", "stats"]
    // Each of them waits for some seconds.
    async let added = Run(add, environment: environment)
    async let listed = Run(list, environment: environment)
    for run in [try await added, try await listed] {
      #expect(run.status == 3 && run.errors.contains("did not answer"), "\(run.errors)")
      #expect(!run.errors.contains("disk"))
    }
  }

  @Test(
    "Without a primary uploads get 503 and /ready fails; after a promotion both go on, without a restart",
    arguments: ["", " target_session_attrs=any"])
  func promoted(attributes: String) async throws {
    let standby = try await PrivatePostgreSQL(follow: cluster)
    // The standby is tried first if the address admits it.
    let hosts =
      attributes.isEmpty ? cluster.address(or: standby) : standby.address(or: cluster)
    let authority = try await ServedAuthority(
      arguments: ["--database", hosts + " connect_timeout=60" + attributes])
    let tokens = [try await authority.token(), try await authority.token()]
    #expect(try await authority.upload(token: tokens[0]).status == 200)
    try await cluster.kill()
    let failed = try await authority.upload(token: tokens[1])
    #expect(failed.status == 503 && failed.headers.contains("retry-after: "), "\(failed.status)")
    let ready = try await authority.servers.get(authority.keys, "/ready")
    #expect(ready.status == 503)
    let errors = try authority.servers.errors()
    #expect(!errors.contains("damaged"), "\(errors)")
    try await standby.promote()
    try await Patience.until { try await authority.upload(token: tokens[1]).status == 200 }
    // The token of the upload that was acknowledged before is used on the new primary.
    #expect(try await authority.upload(token: tokens[0]).status != 200)
    #expect(try await authority.upload(token: try await authority.token()).status == 200)
    // Its result is kept for some seconds.
    try await Patience.until {
      try await authority.servers.get(authority.keys, "/ready").status == 200
    }
  }

  @Test("API keys and apps that a command stores are in the shared database")
  func commands() async throws {
    let first = try await ServedAuthority(arguments: arguments)
    let environment = ["DATABASE_URL": address]
    let key = try await Run(
      ["verification-server", "api-key", "add", "--type", "stats", "--data", first.servers.data],
      environment: environment)
    #expect(key.status == 0, "\(key.errors)")
    let list = try await Run(
      ["verification-server", "api-key", "list", "--json", "--data", first.servers.data],
      environment: environment)
    #expect(list.output.contains("stats"), "\(list.output)")
  }
}
