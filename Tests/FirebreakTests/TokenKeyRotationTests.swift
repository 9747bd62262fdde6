import Foundation
import TestSupport
import Testing

/// Documentation/Serving.md 4.
@Suite("Keys that sign tokens, changed while both servers run")
struct TokenKeyRotationTests {
  private func keyID(_ token: String) throws -> String? {
    try ServedAuthority.part(0, of: token)["kid"] as? String
  }

  @Test(
    "The new key signs and is believed without a restart; the old one is believed in the overlap")
  func rotation() async throws {
    let authority = try await ServedAuthority()
    let old = try authority.token()
    #expect(try keyID(old) == "t1")
    #expect(try authority.run("verification-server", "signing-key", "rotate").status == 0)
    var new = old
    try await Patience.until {
      new = try authority.token()
      return try keyID(new) == "t2"
    }
    #expect(try keyID(new) == "t2")
    #expect(try authority.upload(token: new).status == 200)
    #expect(try authority.upload(token: old).status == 200)
    let page = try await authority.servers.get(authority.verification, "/.well-known/jwks.json")
    let text = String(decoding: page.body, as: UTF8.self)
    #expect(text.contains(#""kid":"t1""#) && text.contains(#""kid":"t2""#))
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("Of changes that many officials make to the secrets at once, none is lost")
  func atOnce() throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data").path
    let server = ["verification-server", "--data", data]
    #expect(try Run([server[0], "signing-key", "add"] + server[1...]).status == 0)
    let started = try (0..<12).map { number in
      let process = Process()
      process.executableURL = try Run.product()
      let change = number.isMultiple(of: 2) ? ["signing-key", "add"] : ["api-token", "--add"]
      process.arguments = [server[0]] + change + server[1...]
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      return process
    }
    for process in started {
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
    let keys = try Run([server[0], "signing-key", "list", "--json"] + server[1...]).json()
    let names = (keys?["keys"] as? [NSDictionary])?.compactMap { $0["keyID"] as? String }
    #expect(names == (1...8).map { "t\($0)" })
    let tokens = try Run([server[0], "api-token", "--json"] + server[1...]).json()
    #expect((tokens?["apiTokens"] as? [String])?.count == 7)
  }

  @Test("A key that has ended is no longer laid down for the key server")
  func ended() throws {
    let folder = try TemporaryFolder()
    let data = folder.path("data").path
    let rotate = ["verification-server", "signing-key", "rotate", "--data", data]
    func laidDown() throws -> Set<String> {
      let file = try Data(contentsOf: folder.path("data/token-keys.json"))
      return Set(try JSONDecoder().decode([String: String].self, from: file).keys)
    }
    #expect(try Run(rotate).status == 0)
    #expect(try laidDown() == ["t1", "t2"])
    #expect(try Run(rotate + ["--overlap", "0"]).status == 0)
    #expect(try laidDown() == ["t3"])
  }
}
