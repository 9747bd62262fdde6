// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("Commands about authorities and apps", .needs(.process))
struct RegisterCommandTests {
  private static let own = "verification.firebreak.example"

  private let folder: TemporaryFolder
  private let data: String
  private let pem: String

  init() throws {
    folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    data = folder.path("data").path
    let file = folder.path("public.pem")
    try Data(P256.Signing.PrivateKey().publicKey.pemRepresentation.utf8).write(to: file)
    pem = file.path
  }

  private func run(_ words: String...) async throws -> Run {
    try await Run(["key-server"] + words + ["--data", data])
  }

  private func authorities() async throws -> [NSDictionary] {
    try await run("authority", "list", "--json").json()?["authorities"] as? [NSDictionary] ?? []
  }

  @Test("An app may use the issuer of the configuration file, and of the environment")
  func configured() async throws {
    let file = folder.path("servers.json")
    try Data(#"{"keys": {"tokenIssuer": "codes.example"}}"#.utf8).write(to: file)
    for (app, variable, value) in [
      ("org.a", "FIREBREAK_CONFIG", file.path),
      ("org.b", "FIREBREAK_KEYS_TOKEN_ISSUER", "codes.example"),
    ] {
      let add = [
        "key-server", "app", "add", app, "--region", "PL", "--authority", "codes.example",
        "--data", data,
      ]
      let unknown = try await Run(add)
      #expect(unknown.status == 2 && unknown.errors.contains("codes.example"), "\(unknown)")
      let added = try await Run(add, environment: [variable: value])
      #expect(added.status == 0, "\(added.errors)")
    }
  }

  @Test("Our own issuer cannot be added, the error says what to do instead, and an app may use it")
  func ownIssuer() async throws {
    for issuer in [Self.own, "Verification.firebreak.example", " \(Self.own)", "\(Self.own)/"] {
      for _ in 0..<2 {
        let refused = try await run(
          "authority", "add", "--issuer", issuer, "--audience", "keys.firebreak.example",
          "--key-id", "t1", "--public-key", pem)
        #expect(refused.status == 2 && refused.output.isEmpty, "\(issuer)")
        #expect(refused.errors.contains(Self.own), "\(refused.errors)")
      }
    }
    #expect(try await authorities().count == 1)
    #expect(
      try await run("app", "add", "org.example", "--region", "PL", "--authority", Self.own).status
        == 0)
  }

  @Test("A second key keeps the other properties; keys, authorities and apps are removed once")
  func changes() async throws {
    let page = "https://clinic.example/jwks"
    #expect(
      try await run(
        "authority", "add", "--issuer", "clinic", "--audience", "keys", "--jwks-url", page,
        "--statistics"
      ).status == 0)
    for _ in 0..<2 {
      #expect(
        try await run(
          "authority", "add", "--issuer", "clinic", "--key-id", "v2", "--public-key", pem
        ).status == 0)
    }
    let clinic = try #require(try await authorities().last)
    #expect(clinic["jwksURL"] as? String == page && clinic["statistics"] as? Bool == true)
    #expect(clinic["audience"] as? String == "keys" && clinic["keyIDs"] as? [String] == ["v2"])
    for status: Int32 in [0, 1] {
      let withdrawn = try await run(
        "authority", "withdraw-key", "--issuer", "clinic", "--key-id", "v2")
      #expect(withdrawn.status == status)
    }
    for id in ["v2", "v3"] {
      let again = try await run(
        "authority", "add", "--issuer", "clinic", "--key-id", id, "--public-key", pem)
      #expect(again.status == 2 && again.errors.contains("withdrawn"))
    }
    #expect(
      try await run("app", "add", "org.example", "--region", "PL", "--authority", "clinic").status
        == 0)
    for status: Int32 in [0, 1] {
      #expect(try await run("app", "remove", "org.example").status == status)
      #expect(try await run("authority", "remove", "--issuer", "clinic").status == status)
    }
    #expect(try await run("app", "remove", "pl.gov.mc.protegosafe").errors.contains("appPackages"))
    #expect(try await authorities().count == 1)
  }

  @Test("A region whose keys no export includes is refused by app add and at the start")
  func missingExport() async throws {
    let refused = try await run(
      "app", "add", "org.example", "--region", "DE", "--authority", Self.own)
    #expect(refused.status == 2 && refused.errors.contains("export of DE"), "\(refused.errors)")
    for (settings, isRefused) in [
      (#"{"regions": ["PL", "DE"]}"#, true), (#"{"publish": {"defaultRegion": "DE"}}"#, true),
      (
        #"{"regions": ["PL", "DE"], "furtherExports": [{"filenameRoot": "d", "region": "DE"}]}"#,
        false
      ),
    ] {
      let place = try TemporaryFolder()
      try ServedAuthority.write(["keys/settings.json": settings], in: place)
      if isRefused {
        let run = try await Run("serve", "--data", place.path("data").path, "--port", "0")
        #expect(run.status == 2 && run.errors.contains("export of DE"), "\(run.errors)")
        #expect(run.errors.contains("keys/settings.json"))
      } else {
        let servers = try await ServedFirebreak(folder: place)
        _ = try await servers.addresses()
        #expect(try await servers.stop() == 0)
      }
    }
  }
}
