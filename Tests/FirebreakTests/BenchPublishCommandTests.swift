// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing
import TextEncodings
import UploadToken
import World

@testable import Bench

@Suite("firebreak bench publish", .needs(.process))
struct BenchPublishCommandTests {
  private let folder: TemporaryFolder
  private let key = P256.Signing.PrivateKey()

  init() throws {
    folder = try TemporaryFolder()
    try key.pemRepresentation.write(
      to: folder.path("key.pem"), atomically: true, encoding: .utf8)
  }

  private func bench(_ server: StandInKeyServer, _ arguments: String...) async throws -> Run {
    try await Run(
      [
        "bench", "publish", "--json", "--target", server.address, "--issuer", "an issuer",
        "--audience", "an audience", "--key-id", "v7", "--signing-key", folder.path("key.pem").path,
        "--application", "an.app", "--connections", "3", "--requests", "20",
      ] + arguments)
  }

  @Test("Uploads have new keys and a certificate for them, and responses are counted")
  func uploads() async throws {
    let server = try StandInKeyServer(.correct)
    let run = try await bench(server, "--keys", "14")
    #expect(run.status == 0, "\(run.errors)")
    let report = try #require(try run.json())
    #expect(report["errors"] as? Int == 0 && report["connections"] as? Int == 3)
    #expect(report["database"] as? String == "external")
    #expect(report["build"] as? String == BuildKind.current.rawValue)
    for name in ["requestsPerSecond", "p50Milliseconds", "p95Milliseconds", "p99Milliseconds"] {
      #expect((report[name] as? Double ?? 0) > 0, "\(name)")
    }
    let cpu = try #require(report["cpuMicroseconds"] as? [String: Any])
    #expect((cpu["generator"] as? Double ?? 0) > 0)
    #expect(cpu["server"] is NSNull && cpu["database"] is NSNull)
    #expect(report["bareUploadsPerSecond"] == nil)
    // Including one warm-up upload for each of the three connections.
    #expect(server.uploads.count == 23)
    #expect(server.uploads.allSatisfy { $0.path == "/v1/publish" && !$0.isChaff })
    var keys: Set<String> = []
    for upload in server.uploads { keys.formUnion(try await check(upload.body)) }
    #expect(keys.count == 23 * 14)
  }

  /// Checks an upload and returns its keys.
  private func check(_ body: Data) async throws -> [String] {
    let fields = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
    #expect(fields["healthAuthorityID"] as? String == "an.app")
    let list = try #require(fields["temporaryExposureKeys"] as? [[String: Any]])
    let keys = try JSONDecoder().decode(
      [UploadKey].self, from: JSONSerialization.data(withJSONObject: list))
    #expect(keys.count == 14 && keys.allSatisfy { $0.rollingPeriod == 144 })
    #expect(Set(keys.map(\.rollingStartNumber)).count == 14)
    let certificate = try #require(fields["verificationPayload"] as? String)
    let parts = certificate.split(separator: ".").map { Data(base64URL: $0) }
    try #require(parts.count == 3)
    let signed = certificate.split(separator: ".").prefix(2).joined(separator: ".")
    let signature = try P256.Signing.ECDSASignature(rawRepresentation: try #require(parts[2]))
    #expect(key.publicKey.isValidSignature(signature, for: Data(signed.utf8)))
    let claims =
      try JSONSerialization.jsonObject(with: try #require(parts[1])) as? [String: Any]
    #expect(claims?["iss"] as? String == "an issuer")
    let header = try JSONSerialization.jsonObject(with: try #require(parts[0])) as? [String: Any]
    #expect(header?["kid"] as? String == "v7" && header?["alg"] as? String == "ES256")
    let code = try #require(Data(base64Encoded: claims?["tekmac"] as? String ?? ""))
    let secret = try #require(Data(base64Encoded: fields["hmacKey"] as? String ?? ""))
    #expect(KeyHMAC.isValid(code, over: keys, secret: secret))
    return keys.map(\.key)
  }

  @Test(
    "Rejected uploads, missing keys and broken connections count as errors",
    arguments: [
      (StandInKeyServer.Behaviour.refusing, 20...20), (.partial, 20...20), (.hangingUp, 1...19),
      (.closing, 0...0),
    ])
  func errors(behaviour: StandInKeyServer.Behaviour, expected: ClosedRange<Int>) async throws {
    let run = try await bench(try StandInKeyServer(behaviour))
    #expect(run.status == (expected == 0...0 ? 0 : 1), "\(run.errors)")
    let errors = try #require(try run.json()?["errors"] as? Int)
    #expect(expected.contains(errors), "\(errors)")
  }

  @Test("Decoys with different responses fail the comparison")
  func chaff() async throws {
    let server = try StandInKeyServer(.correct)
    let alike = try await bench(server, "--chaff", "--requests", "200")
    let comparison = try #require(try alike.json()?["chaff"] as? [String: Any])
    #expect(comparison["sameSizes"] as? Bool == true && comparison["sameHeaders"] as? Bool == true)
    #expect(comparison["requests"] as? [String: Int] == ["real": 100, "chaff": 100])
    #expect(server.uploads.count { $0.isChaff } == 100)
    let short = try await bench(try StandInKeyServer(.shortDecoys), "--chaff", "--requests", "60")
    #expect(short.status == 1)
    #expect((try short.json()?["chaff"] as? [String: Any])?["sameSizes"] as? Bool == false)
    let plain = try await bench(try StandInKeyServer(.plainDecoys), "--chaff")
    #expect(plain.status == 1)
    #expect((try plain.json()?["chaff"] as? [String: Any])?["sameHeaders"] as? Bool == false)
  }

  /// All options for an external server; nothing listens there.
  private static let toTarget = [
    "--target", "http://127.0.0.1:1", "--issuer", "codes", "--audience", "keys", "--key-id", "v1",
    "--signing-key", "none.pem", "--application", "an.app",
  ]

  @Test(
    "Invalid options are rejected with one line",
    arguments: [
      (["--connections", "0"], "--connections"), (["--connections", "257"], "--connections"),
      (["--requests", "0"], "--requests"), (["--requests", "200001"], "--requests"),
      (["--keys", "0"], "--keys"), (["--keys", "31"], "--keys"),
      (["--database", "http://127.0.0.1/keys"], "--database"),
      (Self.toTarget + ["--database", "postgresql://localhost/keys"], "--database"),
      (Self.toTarget + ["--connections", "1025"], "between 1 and 1024"),
      (["--target", "http://127.0.0.1:1"], "--issuer"), (["--issuer", "someone"], "--target"),
    ])
  func refusals(arguments: [String], named: String) async throws {
    let run = try await Run(["bench", "publish", "--json"] + arguments)
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errors.contains(named), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
  }

  @Test("An invalid URL, an invalid key and an unreachable server have different errors")
  func targets() async throws {
    func run(_ target: String, key: String) async throws -> Run {
      try await Run(
        "bench", "publish", "--requests", "1", "--connections", "1", "--target", target, "--issuer",
        "i", "--audience", "a", "--key-id", "k", "--signing-key", key, "--application", "x")
    }
    let key = folder.path("key.pem").path
    #expect(try await run("https://127.0.0.1:1", key: key).status == 2)
    for target in ["not an address", "http://127.0.0.1:99999", "http://127.0.0.1:0"] {
      #expect(try await run(target, key: key).status == 2)
    }
    #expect(try await run("http://127.0.0.1:1", key: folder.path("none.pem").path).status == 2)
    let wrong = folder.path("wrong.pem")
    try Data("no key".utf8).write(to: wrong)
    #expect(try await run("http://127.0.0.1:1", key: wrong.path).status == 2)
    let unreachable = try await run("http://127.0.0.1:1", key: key)
    #expect(unreachable.status == 3 && unreachable.errors.contains("cannot be reached"))
  }

  @Test("Without a target it starts a key server and removes its files")
  func ownServer() async throws {
    let temporary = try TemporaryFolder()
    let run = try await Run(
      ["bench", "publish", "--json", "--connections", "2", "--requests", "24", "--keys", "14"],
      temporaryFolder: temporary.url)
    #expect(run.status == 0, "\(run.errors)")
    let report = try #require(try run.json())
    #expect(report["errors"] as? Int == 0 && report["requests"] as? Int == 24)
    #expect(report["database"] as? String == "sqlite")
    let cpu = try #require(report["cpuMicroseconds"] as? [String: Double])
    #expect((cpu["server"] ?? 0) > 0 && cpu["database"] == 0)
    #expect((report["bareUploadsPerSecond"] as? Double ?? 0) > 0)
    #expect(temporary.files().isEmpty)
  }

  @Test(
    "With --database the uploads are in PostgreSQL, and a second run adds to those of the first")
  func postgreSQL() async throws {
    let server = try await PrivatePostgreSQL.shared()
    let name = "bench_publish"
    let address = try await server.createDatabase(name)
    let temporary = try TemporaryFolder()
    for number in 1...2 {
      let run = try await Run(
        [
          "bench", "publish", "--json", "--connections", "2", "--requests", "10", "--keys", "3",
          "--database", address,
        ], temporaryFolder: temporary.url)
      #expect(run.status == 0, "\(run.errors)")
      let report = try #require(try run.json())
      #expect(report["errors"] as? Int == 0 && report["requests"] as? Int == 10)
      #expect(report["database"] as? String == "postgresql")
      let cpu = try #require(report["cpuMicroseconds"] as? [String: Any])
      #expect((cpu["server"] as? Double ?? 0) > 0 && cpu["database"] is NSNull)
      #expect((report["bareUploadsPerSecond"] as? Double ?? 0) > 0)
      // With a warm-up upload for each of the two connections.
      let count = try await server.run("SELECT count(*) FROM diagnosis_key", in: name)
      #expect(count == Int64(number * 12 * 3))
    }
    #expect(temporary.files().isEmpty)
  }

  @Test("A database with other data than that of the bench is refused, and stays as it is")
  func otherDatabases() async throws {
    let server = try await PrivatePostgreSQL.shared()
    let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
    let foreign = try await server.createDatabase("bench_publish_foreign")
    try await server.run(
      "CREATE TABLE schema_version (version bigint)", in: "bench_publish_foreign")
    let exported = try await server.createDatabase("bench_publish_export")
    let export = try await Run("bench", "export", "--keys", "100", "--database", exported)
    #expect(export.status == 0, "\(export.errors)")
    for (name, address) in [
      ("bench_publish_foreign", foreign), ("bench_publish_export", exported),
    ] {
      let before = try await server.run(tables, in: name)
      let run = try await Run(
        ["bench", "publish", "--requests", "1", "--connections", "1", "--database", address])
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errors.contains("has other tables"), "\(run.errors)")
      #expect(try await server.run(tables, in: name) == before)
    }
  }

  @Test("Our key server sends decoys the same sizes and headers as uploads")
  func ownChaff() async throws {
    let run = try await Run(
      "bench", "publish", "--json", "--connections", "2", "--requests", "60", "--chaff")
    let comparison = try #require(try run.json()?["chaff"] as? [String: Any], "\(run.errors)")
    #expect(comparison["sameSizes"] as? Bool == true, "\(comparison)")
    #expect(comparison["sameHeaders"] as? Bool == true, "\(comparison)")
    #expect(try run.json()?["errors"] as? Int == 0)
    #expect(try run.json()?["bareUploadsPerSecond"] == nil)
  }

  @Test("A server that does not start ends the bench with its error in one line")
  func serverFails() async throws {
    let temporary = try TemporaryFolder()
    // The database does not fit into files of 8 KiB.
    let command = #"ulimit -f 8; exec "$0" bench publish --json --requests 1"#
    let run = try await ChildProcess.run(
      URL(fileURLWithPath: "/bin/bash"), ["-c", command, Run.product().path],
      environment: environment(temporary))
    #expect(run.status == 3 && run.output.isEmpty, "\(run.errors)")
    let lines = run.errors.split(separator: "\n").filter { !$0.contains("debug build") }
    #expect(lines.count == 1, "\(run.errors)")
    #expect(lines.first?.contains("did not start: The ") == true, "\(run.errors)")
    #expect(temporary.files().isEmpty)
  }

  @Test("A terminated bench kills its server and removes the files", arguments: [SIGINT, SIGTERM])
  func terminated(signal: Int32) async throws {
    let temporary = try TemporaryFolder()
    // It should not take time from other tests while this one waits.
    try await ChildProcess.withRunning(
      URL(fileURLWithPath: "/usr/bin/nice"),
      ["-n", "19", Run.product().path, "bench", "publish", "--requests", "200000"],
      environment: environment(temporary)
    ) { bench in
      var servers: [Int32] = []
      try await Patience.until {
        servers = Self.children(of: bench.processIdentifier)
        return bench.status != nil || !servers.isEmpty && !temporary.files().isEmpty
      }
      let errors = try bench.errors
      try #require(servers.count == 1, "\(errors)")
      bench.send(signal)
      let status = try await bench.wait()
      #expect(status == 128 + signal)
      #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.url.path).isEmpty)
      // The orphan is reaped by another process, some time after its end.
      try await Patience.until { Self.state(of: servers[0]).map { $0 == "Z" } ?? true }
      #expect(Self.state(of: servers[0]).map { $0 == "Z" } ?? true)
    }
  }

  private func environment(_ temporary: TemporaryFolder) -> [String: String] {
    ProcessInfo.processInfo.environment.merging(["TMPDIR": temporary.url.path]) { $1 }
  }

  /// The processes that `parent` has started.
  private static func children(of parent: Int32) -> [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap(Int32.init).filter { fields(of: $0)?.dropFirst().first == "\(parent)" }
  }

  /// The state of a process, such as Z for a zombie; nil if it does not exist.
  private static func state(of process: Int32) -> Substring? { fields(of: process)?.first }

  /// The fields of `/proc/PID/stat` after the name: state, parent and more.
  private static func fields(of process: Int32) -> [Substring]? {
    let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    return text?.split(separator: ")").last?.split(separator: " ")
  }

  @Test("The server of the bench is hidden from the help")
  func server() async throws {
    #expect(try await Run("bench", "publish-server").status == 2)
    #expect(try await !Run("bench", "--help").output.contains("publish-server"))
  }
}
