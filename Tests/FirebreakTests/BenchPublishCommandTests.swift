import Crypto
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import UploadToken
import World

@testable import firebreak

/// Documentation/Performance.md 5 and 6.
@Suite("firebreak bench publish")
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

  @Test("Each upload is new, whole, certified and bound to its keys; the answers are counted")
  func uploads() async throws {
    let server = try StandInKeyServer(.correct)
    let run = try await bench(server, "--keys", "14")
    #expect(run.status == 0, "\(run.errors)")
    let facts = try #require(try run.json())
    #expect(facts["errors"] as? Int == 0 && facts["connections"] as? Int == 3)
    #expect(facts["database"] as? String == "external")
    #expect(facts["build"] as? String == BuildKind.current.rawValue)
    for name in ["requestsPerSecond", "p50Milliseconds", "p95Milliseconds", "p99Milliseconds"] {
      #expect((facts[name] as? Double ?? 0) > 0, "\(name)")
    }
    let cpu = try #require(facts["cpuMicroseconds"] as? [String: Any])
    #expect((cpu["generator"] as? Double ?? 0) > 0)
    #expect(cpu["server"] is NSNull && cpu["database"] is NSNull)
    // Each of the three connections once beforehand.
    #expect(server.uploads.count == 23)
    #expect(server.uploads.allSatisfy { $0.path == "/v1/publish" && !$0.isChaff })
    var keys: Set<String> = []
    for upload in server.uploads { keys.formUnion(try await check(upload.body)) }
    #expect(keys.count == 23 * 14)
  }

  /// The keys of a right upload.
  private func check(_ body: Data) async throws -> [String] {
    let fields = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
    #expect(fields["healthAuthorityID"] as? String == "an.app")
    let list = try #require(fields["temporaryExposureKeys"] as? [[String: Any]])
    let keys = try JSONDecoder().decode(
      [UploadKey].self, from: JSONSerialization.data(withJSONObject: list))
    #expect(keys.count == 14 && keys.allSatisfy { $0.rollingPeriod == 144 })
    #expect(Set(keys.map(\.rollingStartNumber)).count == 14)
    let certificate = try #require(fields["verificationPayload"] as? String)
    let parts = certificate.split(separator: ".").map { part in
      let text = part.replacing("-", with: "+").replacing("_", with: "/")
      return Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
    }
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
    "Refusals, keys left out and broken connections are errors, however fast",
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

  @Test("Decoys that are answered as uploads are pass, those that stand out do not")
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

  /// Names a server of somebody else's in full, where nobody is at home.
  private static let toTarget = [
    "--target", "http://127.0.0.1:1", "--issuer", "codes", "--audience", "keys", "--key-id", "v1",
    "--signing-key", "none.pem", "--application", "an.app",
  ]

  @Test(
    "What cannot be is refused in one line",
    arguments: [
      (["--connections", "0"], "--connections"), (["--connections", "257"], "--connections"),
      (["--requests", "0"], "--requests"), (["--requests", "200001"], "--requests"),
      (["--keys", "0"], "--keys"), (["--keys", "31"], "--keys"),
      (["--database", "postgresql://localhost/keys"], "--database"),
      (Self.toTarget + ["--connections", "1025"], "1 to 1024"),
      (["--target", "http://127.0.0.1:1"], "--issuer"), (["--issuer", "someone"], "--target"),
    ])
  func refusals(arguments: [String], named: String) async throws {
    let run = try await Run(["bench", "publish", "--json"] + arguments)
    #expect(run.status == 2 && run.output.isEmpty)
    #expect(run.errors.contains(named), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
  }

  @Test("A target that is no address, no key and nobody at home each say so")
  func targets() async throws {
    func run(_ target: String, key: String) async throws -> Run {
      try await Run(
        "bench", "publish", "--requests", "1", "--connections", "1", "--target", target, "--issuer",
        "i", "--audience", "a", "--key-id", "k", "--signing-key", key, "--application", "x")
    }
    let key = folder.path("key.pem").path
    #expect(try await run("https://127.0.0.1:1", key: key).status == 2)
    #expect(try await run("not an address", key: key).status == 2)
    #expect(try await run("http://127.0.0.1:1", key: folder.path("none.pem").path).status == 2)
    let wrong = folder.path("wrong.pem")
    try Data("no key".utf8).write(to: wrong)
    #expect(try await run("http://127.0.0.1:1", key: wrong.path).status == 2)
    let nobody = try await run("http://127.0.0.1:1", key: key)
    #expect(nobody.status == 3 && nobody.errors.contains("cannot be reached"))
  }

  @Test("Without a target it starts a key server of its own, and leaves nothing of it behind")
  func ownServer() async throws {
    let temporary = try TemporaryFolder()
    let run = try await Run(
      ["bench", "publish", "--json", "--connections", "2", "--requests", "24", "--keys", "14"],
      temporaryFolder: temporary.url)
    #expect(run.status == 0, "\(run.errors)")
    let facts = try #require(try run.json())
    #expect(facts["errors"] as? Int == 0 && facts["requests"] as? Int == 24)
    #expect(facts["database"] as? String == "sqlite")
    let cpu = try #require(facts["cpuMicroseconds"] as? [String: Double])
    #expect((cpu["server"] ?? 0) > 0 && cpu["database"] == 0)
    #expect(temporary.files().isEmpty)
  }

  @Test("The key server of the bench answers decoys in the size and with the headers of uploads")
  func ownChaff() async throws {
    let run = try await Run(
      "bench", "publish", "--json", "--connections", "2", "--requests", "60", "--chaff")
    let comparison = try #require(try run.json()?["chaff"] as? [String: Any], "\(run.errors)")
    #expect(comparison["sameSizes"] as? Bool == true, "\(comparison)")
    #expect(comparison["sameHeaders"] as? Bool == true, "\(comparison)")
    #expect(try run.json()?["errors"] as? Int == 0)
  }

  @Test("The server of the bench is no command for people")
  func server() async throws {
    #expect(try await Run("bench", "publish-server").status == 2)
    #expect(try await !Run("bench", "--help").output.contains("publish-server"))
  }
}
