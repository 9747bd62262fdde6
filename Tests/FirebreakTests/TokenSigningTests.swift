// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing
import World

@Suite("Signing keys on a token (SoftHSM)", .needs(.process))
struct TokenSigningTests {
  private let token: SoftToken
  private let place: TemporaryFolder
  private var data: String { place.path("data").path }

  init() async throws {
    token = try await SoftToken(labels: ["export", "root"])
    place = try TemporaryFolder()
    try await token.createKey("a", on: "export", id: "01")
  }

  private func run(_ arguments: String...) async throws -> Run {
    try await Run(arguments + ["--data", data], environment: token.environment)
  }

  private func serve() async throws -> ServedAuthority {
    try await ServedAuthority(
      ServedAuthority.frequentExports, environment: token.environment, in: place)
  }

  /// - Parameter status: 2 for wrong input, 3 for a token that is away.
  private func refusal(_ arguments: String..., status: Int32 = 2) async throws -> String {
    let run = try await Run(arguments + ["--data", data], environment: token.environment)
    #expect(run.status == status && run.output.isEmpty, "\(run.output)\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    return run.errors
  }

  /// The faults that `/ready` names; nil if the key server is ready.
  private func faults(_ authority: ServedAuthority) async throws -> [String]? {
    try await faults(authority.keys, authority)
  }

  /// The faults that `/ready` of the server at `address` names; nil if it is ready.
  private func faults(
    _ address: String, _ authority: ServedAuthority
  ) async throws -> [String]? {
    let body = try await authority.servers.get(address, "/ready").body
    let json = try JSONSerialization.jsonObject(with: body) as? [String: Any]
    return json?["faults"] as? [String]
  }

  @Test(
    "Files and the remote configuration are signed on a token, by a key in a file, on the token, and after a restart"
  )
  func rotated() async throws {
    var authority = try await serve()
    try await token.createKey("b", on: "export", id: "02")
    let places = [token.uri("a", on: "export"), "file", token.uri("b", on: "export")]
    for (round, key) in places.enumerated() {
      let revoked = try await run("key-server", "signing-key", "revoke", "--key", key, "--json")
      #expect(revoked.status == 0, "\(revoked.errors)")
      let last = (try revoked.json()?["keys"] as? [NSDictionary])?.last
      #expect(last?["tokenKey"] as? String == (key == "file" ? nil : key))
      try await authority.publishKey()
      #expect(try await authority.verifiedFileCount() == 2 * (round + 1))
      #expect(try await authority.servedDocument().keys.map(\.keyVersion) == ["v\(round + 2)"])
      let configuration = try await authority.servers.get(
        authority.keys, KeyServerRoute.remoteConfiguration)
      #expect(String(decoding: configuration.body, as: UTF8.self).contains(#""v\#(round + 2)""#))
    }
    #expect(try await authority.servers.stop() == 0)
    authority = try await serve()
    try await authority.publishKey()
    #expect(try await authority.verifiedFileCount() == 8)
    // A command in another process signs while the server holds its session.
    let again = try await run(
      "key-server", "signing-key", "revoke", "--key", token.uri("a", on: "export"))
    #expect(again.status == 2 && again.errors.contains("already"), "\(again.errors)")
    let list = try await run("key-server", "signing-key", "list")
    #expect(list.output.contains(" on a token: \(token.uri("b", on: "export"))"))
    #expect(!list.output.contains(SoftToken.pin))
    #expect(try await authority.servers.stop() == 0)
  }

  @Test(
    "While the token is away the export waits, /ready and a metric say so, and it goes on when the token is back"
  )
  func removed() async throws {
    var authority = try await serve()
    let key = token.uri("a", on: "export")
    #expect(try await run("key-server", "signing-key", "revoke", "--key", key).status == 0)
    try await authority.publishKey()
    let count = try await authority.indexLines().count
    try token.remove()
    let upload = try await authority.upload(token: try await authority.token())
    #expect(upload.status == 200)
    try await Patience.until { try await faults(authority)?.contains("signing") == true }
    #expect(try await authority.indexLines().count == count)
    #expect(try authority.servers.errors().contains("The token export is not present"))
    #expect(try await authority.servers.stop() == 0)
    // A server that starts without its token accepts uploads.
    authority = try await serve()
    #expect(try await authority.upload(token: try await authority.token()).status == 200)
    try await Patience.until { try await faults(authority)?.contains("signing") == true }
    try token.insert()
    let export = try await run("key-server", "export", "--now")
    #expect(export.status == 0, "\(export.errors)")
    #expect(try await authority.verifiedFileCount() > count)
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("A key, a token, a PIN or a file that is wrong is refused before anything changes")
  func refused() async throws {
    try ServedAuthority.prepare(place)
    #expect(try await run("key-server", "signing-key", "add").status == 0)
    let before = try Data(contentsOf: place.path("data/keys/secrets.json"))
    let uri = token.uri("a", on: "export")
    func add(_ key: String, status: Int32 = 2) async throws -> String {
      try await refusal("key-server", "signing-key", "add", "--key", key, status: status)
    }
    #expect(try await add(uri.replacing("object=a", with: "object=z")).contains("no private key z"))
    #expect(try await add(uri + "&pin-value=1").contains("pin-value shows the PIN"))
    let lost = try await add(token.uri("a", on: "lost"), status: 3)
    #expect(lost.contains("lost is not present"))
    try token.setPIN("000000")
    #expect(try await add(uri).contains("refused the PIN in \(token.pinFile.path)"))
    try token.setPIN(SoftToken.pin, permissions: 0o644)
    #expect(try await add(uri).contains("can be read by other users"))
    try token.setPIN("")
    #expect(try await add(uri).contains("is empty"))
    #expect(try Data(contentsOf: place.path("data/keys/secrets.json")) == before)
    try token.setPIN(SoftToken.pin)
    #expect(try await run("key-server", "signing-key", "add", "--key", uri).status == 0)
    // The next key does not leave the token because an option was forgotten.
    let forgotten = try await refusal("key-server", "signing-key", "rotate")
    #expect(forgotten.contains("--key file"))
    #expect(try await refusal("key-server", "signing-key", "add", "--key", uri).contains("already"))
    #expect(try await run("key-server", "signing-key", "rotate", "--key", "file").status == 0)
  }

  @Test("A revocation that has failed to sign the files is completed by the same command")
  func unfinishedRevocation() async throws {
    let authority = try await serve()
    try await authority.publishKey()
    #expect(try await authority.servers.stop() == 0)
    let database = place.path("data/keys/keys.sqlite")
    let intact = try Data(contentsOf: database)
    try Data(repeating: 0x55, count: 65_536).write(to: database)
    let key = token.uri("a", on: "export")
    let failed = try await run("key-server", "signing-key", "revoke", "--key", key)
    #expect(failed.status != 0, "\(failed.output)\(failed.errors)")
    try intact.write(to: database)
    let replaced = try await run("key-server", "signing-key", "list", "--json")
    #expect((try replaced.json()?["keys"] as? [Any])?.count == 2)
    let again = try await run("key-server", "signing-key", "revoke", "--key", key, "--json")
    #expect(again.status == 0, "\(again.errors)")
    #expect((try again.json()?["keys"] as? [Any])?.count == 2)
    #expect((try again.json()?["files"] as? [Any])?.isEmpty == false)
    // When it is complete, the key may be the stolen one.
    #expect(
      try await refusal("key-server", "signing-key", "revoke", "--key", key).contains("already"))
  }

  @Test(
    "Upload tokens are signed on a token, codes wait while it is away, and the key can leave it again"
  )
  func verification() async throws {
    var authority = try await serve()
    let key = token.uri("a", on: "export")
    let rotated = try await run("verification-server", "signing-key", "rotate", "--key", key)
    #expect(rotated.status == 0 && !rotated.output.contains(SoftToken.pin), "\(rotated.errors)")
    try await Patience.until { try await Self.keyID(authority.token()) == "t2" }
    #expect(try await authority.upload(token: authority.token()).status == 200)
    let forgotten = try await refusal("verification-server", "signing-key", "rotate")
    #expect(forgotten.contains("firebreak verification-server signing-key rotate --key pkcs11:"))
    let again = try await refusal("verification-server", "signing-key", "add", "--key", key)
    #expect(again.contains("the signing key t2 already"))
    try token.remove()
    try await Patience.until { try await authority.token().isEmpty }
    // A check that takes some seconds is another fault for a moment.
    try await Patience.until {
      try await faults(authority.verification, authority) == ["signing"]
    }
    #expect(try await authority.servers.stop() == 0)
    // The servers start without it, and the public key is known.
    authority = try await serve()
    #expect(try await authority.token().isEmpty)
    let page = try await authority.servers.get(authority.verification, "/.well-known/jwks.json")
    #expect(String(decoding: page.body, as: UTF8.self).contains(#""kid":"t2""#))
    try token.insert()
    let moved = try await run(
      "verification-server", "signing-key", "relocate", "--key",
      key.replacing("object=a", with: "id=%01"))
    #expect(moved.status == 0, "\(moved.errors)")
    try await Patience.until { try await Self.keyID(authority.token()) == "t2" }
    try await Patience.until { try await faults(authority.verification, authority) == nil }
    #expect(
      try await run("verification-server", "signing-key", "revoke", "--key", "file").status == 0)
    try await Patience.until { try await Self.keyID(authority.token()) == "t3" }
    #expect(try await authority.upload(token: authority.token()).status == 200)
    #expect(try await authority.servers.stop() == 0)
  }

  /// The key that signed an upload token; nil without a token.
  private static func keyID(_ token: String) throws -> String? {
    token.isEmpty ? nil : try ServedAuthority.part(0, of: token)["kid"] as? String
  }

  @Test("The URI of a key on a token can be changed, to the same key only")
  func relocated() async throws {
    try ServedAuthority.prepare(place)
    let key = token.uri("a", on: "export")
    #expect(try await run("key-server", "signing-key", "add", "--key", key).status == 0)
    let before = try await run("key-server", "signing-key", "list", "--json").json()
    let next = key.replacing("object=a", with: "id=%01")
    let moved = try await run("key-server", "signing-key", "relocate", "--key", next, "--json")
    #expect(moved.status == 0, "\(moved.errors)")
    let keys = try moved.json()?["keys"] as? [NSDictionary]
    #expect(keys?.last?["tokenKey"] as? String == next)
    let old = (before?["keys"] as? [NSDictionary])?.last
    for field in ["keyVersion", "publicKey", "validFrom"] {
      #expect(keys?.last?[field] as? NSObject == old?[field] as? NSObject, "\(field)")
    }
    try await token.createKey("b", on: "export", id: "02")
    let other = try await refusal(
      "key-server", "signing-key", "relocate", "--key", token.uri("b", on: "export"))
    #expect(other.contains("not a signing key"))
    let list = try await run("key-server", "signing-key", "list")
    #expect(list.output.contains(" on a token: \(next)"))
  }

  @Test("The root key on a token signs the device configuration, and another key does not")
  func root() async throws {
    try ServedAuthority.prepare(place)
    for (key, id) in [("r", "01"), ("s", "02")] {
      try await token.createKey(key, on: "root", id: id)
    }
    let root = token.uri("r", on: "root")
    let add = try await run("key-server", "signing-key", "add", "--root-key", root)
    #expect(add.status == 0, "\(add.errors)")
    #expect(!FileManager.default.fileExists(atPath: place.path("data/keys/root-key.pem").path))
    let pause = try await run("key-server", "pause", "--root-key", root)
    #expect(pause.status == 0, "\(pause.errors)")
    let other = token.uri("s", on: "root")
    #expect(
      try await refusal("key-server", "resume", "--root-key", other).contains(
        "the key on the token does not belong to"))
    try token.remove()
    let away = try await refusal("key-server", "resume", "--root-key", root, status: 3)
    #expect(away.contains("--root-key: The token root is not present"))
    try token.insert()
    let authority = try await serve()
    #expect(try await authority.servedDocument().pause != nil)
    #expect(try await run("key-server", "resume", "--root-key", root).status == 0)
    #expect(try await authority.servedDocument().pause == nil)
    #expect(try await authority.servers.stop() == 0)
  }
}
