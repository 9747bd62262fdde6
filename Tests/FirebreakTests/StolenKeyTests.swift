// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing
import World

/// The recovery after a stolen signing key, as Documentation/DeviceConfiguration.md describes it.
@Suite("A stolen signing key", .needs(.process))
struct StolenKeyTests {
  @Test(
    "One command signs every file of every index with a new key under a new name, twice too, and removes withdrawn ones"
  )
  func revoked() async throws {
    let authority = try await ServedAuthority(ServedAuthority.frequentExports)
    try await authority.publishKey()
    let first = try #require(try await authority.indexLines().first)
    let withdrawn = try #require(
      KeyFileHash(ofFile: authority.folder.path("data/exports/\(first)")))
    #expect(
      try await authority.run("key-server", "withdraw", withdrawn.description).status == 0)
    let all = try await authority.indexLines()
    for round in 2...3 {
      let earlier = try await authority.indexLines()
      let revoked = try await authority.run("key-server", "signing-key", "revoke")
      #expect(revoked.status == 0, "\(revoked.errors)")
      let now = try await authority.indexLines()
      #expect(now.count == all.count - 1 && Set(now).isDisjoint(with: earlier))
      #expect(now.allSatisfy { $0.hasSuffix("-0000\(round).zip") }, "\(now)")
      #expect(try await authority.verifiedFileCount() == now.count)
      let document = try await authority.servedDocument()
      #expect(document.keys.map(\.keyVersion) == ["v\(round)"])
      #expect(document.withdrawn == [withdrawn])
      // The files with the stolen key's signatures are gone.
      for line in earlier {
        #expect(try await authority.servers.get(authority.keys, "/\(line)").status == 404)
      }
    }
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
