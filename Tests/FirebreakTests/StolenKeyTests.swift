// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing
import World

/// The recovery after a stolen key, as SECURITY.md lists it.
@Suite("A stolen key", .needs(.process))
struct StolenKeyTests {
  @Test(
    "One command signs every file of every index with a new key under a new name, twice too, and removes withdrawn ones"
  )
  func revoked() async throws {
    let authority = try await ServedAuthority(ServedAuthority.frequentExports)
    for _ in 1...2 { try await authority.publishKey() }
    let first = try #require(try await authority.indexLines().first)
    let withdrawn = try #require(
      KeyFileHash(ofFile: authority.folder.path("data/exports/\(first)")))
    #expect(
      try await authority.run("key-server", "withdraw", withdrawn.description).status == 0)
    // The file of both exports.
    let both = try await authority.servedDocument().withdrawn
    #expect(both.count == 2 && both.contains(withdrawn))
    let all = try await authority.indexLines()
    for round in 2...3 {
      let earlier = try await authority.indexLines()
      let revoked = try await authority.run("key-server", "signing-key", "revoke")
      #expect(revoked.status == 0, "\(revoked.errors)")
      let now = try await authority.indexLines()
      try #require(!now.isEmpty)
      #expect(now.count == all.count - 2 && Set(now).isDisjoint(with: earlier))
      #expect(now.allSatisfy { $0.hasSuffix("-0000\(round).zip") }, "\(now)")
      #expect(try await authority.verifiedFileCount() == now.count)
      let document = try await authority.servedDocument()
      #expect(document.keys.map(\.keyVersion) == ["v\(round)"])
      #expect(document.withdrawn == both)
      // The files with the stolen key's signatures are gone.
      for line in earlier {
        #expect(try await authority.servers.get(authority.keys, "/\(line)").status == 404)
      }
    }
    #expect(try await authority.servers.stop() == 0)
  }

  @Test(
    "A revoked key stays ended when the keys are rotated later",
    arguments: ["key-server", "verification-server"])
  func ended(server: String) async throws {
    let place = try TemporaryFolder()
    try ServedAuthority.prepare(place)
    func ends(_ change: String) async throws -> [Int?] {
      let run = try await Run(
        [server, "signing-key", change, "--json", "--data", place.path("data").path])
      #expect(run.status == 0, "\(run.errors)")
      let keys = try run.json()?["keys"] as? [NSDictionary] ?? []
      return keys.map { $0["validThru"] as? Int }
    }
    let revoked = try await ends("revoke")
    let rotated = try await ends("rotate")
    try #require(revoked.count == 2 && rotated.count == 3)
    #expect(revoked[0] != nil && rotated[0] == revoked[0], "\(revoked) \(rotated)")
  }

  @Test("Revoking an API key ends its live codes and prints their number, or keeps them if told so")
  func apiKey() async throws {
    let authority = try await ServedAuthority()
    for keepsCodes in [false, true] {
      let (key, other) = (try await authority.apiKey("admin"), try await authority.apiKey("admin"))
      var codes: [String: String] = [:]
      for issuer in [key, other] {
        let issued = try await authority.post(
          "\(authority.verification)/api/issue", #"{"testType":"confirmed"}"#,
          headers: ["X-API-Key": issuer])
        codes[issuer] = try #require(issued.json["code"] as? String)
      }
      let revoke = ["verification-server", "api-key", "revoke", String(key.prefix(16))]
      for count in [1, 0] {
        let revoked = try await Run(
          revoke + (keepsCodes ? ["--keep-codes"] : [])
            + ["--json", "--data", authority.servers.data])
        #expect(revoked.status == 0, "\(revoked.errors)")
        #expect(try revoked.json()?["endedCodes"] as? Int == (keepsCodes ? 0 : count))
      }
      let device = try await authority.apiKey("device")
      for (issuer, isLive) in [(key, keepsCodes), (other, true)] {
        let verified = try await authority.post(
          "\(authority.verification)/api/verify", #"{"code":"\#(codes[issuer] ?? "")"}"#,
          headers: ["X-API-Key": device])
        #expect(verified.status == (isLive ? 200 : 400))
      }
    }
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("Replacing the API tokens ends their codes; the running server accepts only the new one")
  func apiToken() async throws {
    let authority = try await ServedAuthority()
    let generate = "\(authority.verification)/generateCode"
    func token() async throws -> String {
      try await authority.run("verification-server", "api-token").output
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
    for round in 1...2 {
      let stolen = try await token()
      let issued = try await authority.post(
        generate, #"{"data":{}}"#, headers: ["api-token": stolen])
      let code = try #require(issued.json["result"] as? String)
      let replaced = try await authority.run(
        "verification-server", "api-token", "--replace", "--json")
      #expect(replaced.status == 0, "\(replaced.errors)")
      // At once, so that no code is issued with it after the others have ended.
      let refused = try await authority.post(
        generate, #"{"data":{}}"#, headers: ["api-token": stolen])
      #expect(refused.status == 403)
      // In the second round also that of the new token.
      #expect(try replaced.json()?["endedCodes"] as? Int == round)
      let new = try #require(try replaced.json()?["apiTokens"] as? [String])
      #expect(try await new == [token()] && new != [stolen])
      let accepted = try await authority.post(
        generate, #"{"data":{}}"#, headers: ["api-token": new[0]])
      #expect(accepted.status == 200)
      let redeemed = try await authority.post(
        "\(authority.verification)/getAccessToken", #"{"data":{"code":"\#(code)"}}"#)
      #expect(redeemed.status != 200)
    }
    let both = try await authority.run("verification-server", "api-token", "--replace", "--add")
    #expect(both.status == 2)
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("After one command tokens of a stolen key are refused, and new ones accepted")
  func tokens() async throws {
    let authority = try await ServedAuthority()
    let stolen = try await authority.token()
    #expect(try await authority.upload(token: stolen).status == 200)
    let unused = try await authority.token()
    let revoked = try await authority.run("verification-server", "signing-key", "revoke")
    #expect(revoked.status == 0, "\(revoked.errors)")
    // The running verification server signs with the new key after some seconds. The header names the key.
    var new = unused
    try await Patience.until {
      new = try await authority.token()
      return new.prefix { $0 != "." } != unused.prefix { $0 != "." }
    }
    #expect(try await authority.upload(token: new).status == 200)
    // The key server reads the keys again at the unknown key of the new token.
    #expect(try await authority.upload(token: unused).status == 401)
    #expect(try await authority.servers.stop() == 0)
  }
}
