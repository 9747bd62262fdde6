// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("Options that replace settings", .needs(.process))
struct SettingOptionsTests {
  private static let options = [
    "--region", "DE", "--app", "org.option", "--issuer", "issuer.option",
    "--audience", "audience.option", "--key-id", "901",
  ]

  private let folder: TemporaryFolder
  private let data: String

  init() throws {
    folder = try TemporaryFolder()
    data = folder.path("data").path
    try ServedAuthority.write(
      [
        "keys/settings.json": """
        {"region": "CZ", "appPackages": ["org.file"], "tokenIssuer": "issuer.file",
         "tokenAudience": "audience.file", "keyID": "900"}
        """,
        "verification/settings.json": #"{"issuer": "issuer.file", "audience": "audience.file"}"#,
      ], in: folder)
  }

  private func settings(_ server: String, _ options: [String] = []) async throws -> NSDictionary {
    let run = try await Run([server, "settings", "--json", "--data", data] + options)
    #expect(run.status == 0, "\(run.errors)")
    return try #require(try run.json() as NSDictionary?)
  }

  @Test("Each option replaces a setting of the key server for one command only")
  func keys() async throws {
    func expect(_ settings: NSDictionary, _ word: String, _ region: String, _ key: String) {
      #expect(settings["region"] as? String == region)
      #expect(settings["appPackages"] as? [String] == ["org.\(word)"])
      #expect(settings["tokenIssuer"] as? String == "issuer.\(word)")
      #expect(settings["tokenAudience"] as? String == "audience.\(word)")
      #expect(settings["keyID"] as? String == key)
    }
    for _ in 0..<2 {
      expect(try await settings("key-server", Self.options), "option", "DE", "901")
      expect(try await settings("key-server"), "file", "CZ", "900")
    }
  }

  @Test("Each option replaces a setting of the verification server for one command only")
  func verification() async throws {
    for _ in 0..<2 {
      let replaced = try await settings("verification-server", Self.options)
      #expect(replaced["issuer"] as? String == "issuer.option")
      #expect(replaced["audience"] as? String == "audience.option")
      let stored = try await settings("verification-server")
      #expect(stored["issuer"] as? String == "issuer.file")
      #expect(stored["audience"] as? String == "audience.file")
    }
  }
}
