// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing
import World

/// The recovery after a stolen signing key, as Documentation/DeviceConfiguration.md describes it.
@Suite("A stolen signing key", .needs(.process))
struct StolenKeyTests {
  /// Exports of a second, so that the test gets files.
  private static let settings =
    #"{"exportPeriodSeconds":1,"minimumKeys":1,"paddingRange":0}"#

  /// The document that the server serves.
  private func document(_ authority: ServedAuthority) async throws -> DeviceConfiguration {
    let answer = try await authority.servers.get(
      authority.keys, KeyServerRoute.deviceConfiguration)
    let pem = try String(
      contentsOf: authority.folder.path("data/root-public-key.pem"), encoding: .utf8)
    return try UnverifiedDeviceConfiguration(decoding: answer.body)
      .verified(by: try RootKey(publicKeyPEM: pem), at: SystemClock().now)
  }

  /// The lines of every index: of the ProteGO Safe contract, and of the export in Google's layout.
  private func lines(_ authority: ServedAuthority) async throws -> [String] {
    var lines: [String] = []
    for root in ["", "PL"] {
      let index = try await authority.servers.get(
        authority.keys, KeyServerRoute.index(of: root))
      lines += String(decoding: index.body, as: UTF8.self).split(separator: "\n").map(String.init)
    }
    return lines
  }

  /// The number of files in all indexes, each of which verifies with the keys of the document and no others.
  private func verifiedCount(_ authority: ServedAuthority) async throws -> Int {
    let keys = try await document(authority).keys(validAt: SystemClock().now).map {
      try VerificationPublicKey(
        keyID: $0.keyID, keyVersion: $0.keyVersion, publicKeyPEM: $0.publicKey)
    }
    let lines = try await lines(authority)
    for line in lines {
      let answer = try await authority.servers.get(authority.keys, "/\(line)")
      #expect(answer.status == 200, "\(line)")
      let file = authority.folder.path("downloaded.zip")
      try answer.body.write(to: file)
      _ = try UnverifiedKeyFile(at: file).verified(
        by: keys, batchSize: KeyFileLimit.batchSizes.upperBound
      ) { _ in }
    }
    return lines.count
  }

  @Test(
    "One command signs every file of every index with a new key under a new name, twice too, and removes withdrawn ones"
  )
  func revoked() async throws {
    let authority = try await ServedAuthority(["keys/settings.json": Self.settings])
    let upload = try await authority.upload(token: try await authority.token())
    try #require(upload.status == 200)
    try await Patience.until { try await lines(authority).count >= 2 }
    let first = try #require(try await lines(authority).first)
    let withdrawn = try #require(
      KeyFileHash(ofFile: authority.folder.path("data/exports/\(first)")))
    #expect(
      try await authority.run("key-server", "withdraw", withdrawn.description).status == 0)
    let all = try await lines(authority)
    for round in 2...3 {
      let earlier = try await lines(authority)
      let revoked = try await authority.run("key-server", "signing-key", "revoke")
      #expect(revoked.status == 0, "\(revoked.errors)")
      let now = try await lines(authority)
      #expect(now.count == all.count - 1 && Set(now).isDisjoint(with: earlier))
      #expect(now.allSatisfy { $0.hasSuffix("-0000\(round).zip") }, "\(now)")
      #expect(try await verifiedCount(authority) == now.count)
      let document = try await document(authority)
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
