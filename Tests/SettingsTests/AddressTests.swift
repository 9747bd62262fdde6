// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Settings
import Terminal
import TestSupport
import Testing

/// The addresses of servers, in each settings file that has some.
@Suite("Addresses of servers in settings")
struct AddressTests {
  private static let refused = [
    "http://localhost:99999", "http://localhost:65536", "http://localhost:0",
    "http://localhost:-1", "http://localhost:", "http://localhost:8080x",
    "https://example.org:99999999999999999999999", "https://example.org:0/path",
    "https://example.org:65536/path", "http://[::1]:65536", "https://", "https://:443",
    "https:///path", "https://anna@example.org", "https://anna:secret@example.org",
    "http://example.org", "ftp://example.org", "file:///etc/passwd", "example.org",
    "localhost:8080", "", "https://example.org/?a=b", "https://example.org/#a",
  ]
  private static let accepted = [
    "http://localhost", "http://localhost:1", "http://localhost:65535", "http://127.0.0.1:8080",
    "http://[::1]", "http://[::1]:8080", "https://example.org", "https://example.org:443/path",
    "https://example.org/a:99999/b",
  ]

  private let place: TemporaryFolder

  init() throws {
    place = try TemporaryFolder()
    try Data(P256.Signing.PrivateKey().publicKey.pemRepresentation.utf8).write(
      to: place.path("root-public-key.pem"))
    try Data("secret".utf8).write(to: place.path("secret"))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: place.path("secret").path)
  }

  private func file(_ fields: [String: Any]) throws -> URL {
    let file = place.path("settings.json")
    try JSONSerialization.data(withJSONObject: fields).write(to: file)
    return file
  }

  private func phone(_ name: String, _ address: String) throws {
    let complete: [String: Any] = [
      "verificationServer": "http://127.0.0.1:9", "keyServer": "http://127.0.0.1:9",
      "rootKey": "root-public-key.pem", "regions": ["PL"], "appID": "pl.gov.mc.protegosafe",
    ]
    let url = try file(complete.merging([name: address]) { $1 })
    _ = try PhoneConfigurationFile(at: url.path).settings
  }

  private func console(_ name: String, _ address: String) throws {
    let url = try file([name: address, "apiKeyFile": "secret"])
    _ = try ConsoleSettings(SettingsFile(url: url), readsFiles: name == "verificationURL")
  }

  private func keyServer(_ name: String, _ address: String) throws {
    let fields: [String: Any] =
      name == "deviceCheck.baseURL"
      ? [
        "deviceCheck": [
          "baseURL": address, "keyFile": "secret", "keyID": "ABCDE12345", "teamID": "ABCDE12345",
        ]
      ] : [name: address]
    _ = try KeyServerSettings(SettingsFile(url: try file(fields)), readsFiles: false)
  }

  /// Reads an address as the setting `name` of one of the files.
  private func read(_ name: String, _ address: String) throws {
    switch name {
    case "verificationServer", "keyServer", "statistics": try phone(name, address)
    case "origin", "appAddress", "verificationURL": try console(name, address)
    default: try keyServer(name, address)
    }
  }

  @Test(
    "An address has a host, no user, and a port that TCP has; the error names the setting",
    arguments: [
      "verificationServer", "keyServer", "statistics", "origin", "appAddress", "verificationURL",
      "deviceCheck.baseURL", "allowedOrigin",
    ])
  func addresses(name: String) throws {
    for address in Self.refused {
      let error = #expect(throws: CommandFailure.self, "\(address)") { try read(name, address) }
      #expect(error?.message.contains("\(name) must be ") == true, "\(error?.message ?? "")")
    }
    for address in Self.accepted where !isOrigin(name) || !address.dropFirst(8).contains("/") {
      #expect(throws: Never.self, "\(address)") { try read(name, address) }
    }
  }

  private func isOrigin(_ name: String) -> Bool { ["origin", "allowedOrigin"].contains(name) }
}
