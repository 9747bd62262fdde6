// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("Rotation of token signing keys", .needs(.process))
struct TokenKeyRotationTests {
  private func keyID(_ token: String) throws -> String? {
    try ServedAuthority.part(0, of: token)["kid"] as? String
  }

  @Test(
    "Running servers use a new key without a restart, and accept the old one during the overlap")
  func rotation() async throws {
    let authority = try await ServedAuthority()
    let old = try await authority.token()
    #expect(try keyID(old) == "t1")
    #expect(try await authority.run("verification-server", "signing-key", "rotate").status == 0)
    var new = old
    try await Patience.until {
      new = try await authority.token()
      return try keyID(new) == "t2"
    }
    #expect(try keyID(new) == "t2")
    #expect(try await authority.upload(token: new).status == 200)
    #expect(try await authority.upload(token: old).status == 200)
    let page = try await authority.servers.get(authority.verification, "/.well-known/jwks.json")
    let text = String(decoding: page.body, as: UTF8.self)
    #expect(text.contains(#""kid":"t1""#) && text.contains(#""kid":"t2""#))
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("No change is lost if many commands change the secrets at once")
  func concurrent() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    let server = ["verification-server", "--data", data]
    #expect(try await Run([server[0], "signing-key", "add"] + server[1...]).status == 0)
    try await withThrowingTaskGroup(of: Run.self) { runs in
      for number in 0..<12 {
        let change = number.isMultiple(of: 2) ? ["signing-key", "add"] : ["api-token", "--add"]
        runs.addTask { try await Run([server[0]] + change + server[1...]) }
      }
      for try await run in runs {
        let status = run.status
        #expect(status == 0)
      }
    }
    let keys = try await Run([server[0], "signing-key", "list", "--json"] + server[1...]).json()
    let names = (keys?["keys"] as? [NSDictionary])?.compactMap { $0["keyID"] as? String }
    #expect(names == (1...8).map { "t\($0)" })
    let tokens = try await Run([server[0], "api-token", "--json"] + server[1...]).json()
    #expect((tokens?["apiTokens"] as? [String])?.count == 7)
  }

  @Test("An expired key is removed from the key server's token-keys.json")
  func expired() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let data = folder.path("data").path
    let rotate = ["verification-server", "signing-key", "rotate", "--data", data]
    func published() throws -> Set<String> {
      let file = try Data(contentsOf: folder.path("data/token-keys.json"))
      return Set(try JSONDecoder().decode([String: String].self, from: file).keys)
    }
    #expect(try await Run(rotate).status == 0)
    #expect(try published() == ["t1", "t2"])
    #expect(try await Run(rotate + ["--overlap", "0"]).status == 0)
    #expect(try published() == ["t3"])
  }
}
