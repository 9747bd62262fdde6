// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServer
import KeyServerAPI
import ServedSystem
import Settings
import TestSupport
import Testing
import TextEncodings

@Suite("Settings of device verification", .needs(.process))
struct DeviceVerificationSettingsTests {
  private let key = P256.Signing.PrivateKey()

  /// Settings with the DeviceCheck service at `address`.
  private func settings(_ address: String, more: String = "") -> String {
    """
    {"deviceCheck": {"baseURL": "\(address)", "teamID": "TEAM", "keyID": "K1",
      "keyFile": "AuthKey_K1.p8"\(more)}}
    """
  }

  /// True if `token` is signed with the team's key.
  private func isSigned(_ token: String) throws -> Bool {
    let parts = token.split(separator: ".")
    try #require(parts.count == 3)
    let bytes = try #require(Data(base64URL: parts[2]))
    return key.publicKey.isValidSignature(
      try P256.Signing.ECDSASignature(rawRepresentation: bytes),
      for: Data("\(parts[0]).\(parts[1])".utf8))
  }

  @Test("Without settings, iOS needs a payload for these keys, and stderr says what is not checked")
  func unset() async throws {
    let authority = try await ServedAuthority()
    let errors = try authority.servers.errors()
    #expect(errors.split(separator: "\n").count == 1)
    #expect(errors.contains("device token is not: deviceCheck is not set"))
    let token = try await authority.token()
    let none = try await authority.upload(token: token, isVerified: false)
    #expect(none.status == 403 && none.error?["status"] as? String == "PERMISSION_DENIED")
    let unreadable = try await authority.upload(token: token) {
      $0.data.deviceVerificationPayload = "e30="
    }
    #expect(unreadable.status == 400)
    let others = try await authority.upload(token: token) {
      $0.data.temporaryExposureKeys[0].key = Data(repeating: 7, count: 16).base64EncodedString()
    }
    #expect(others.status == 403)
    // The token is still valid after the rejections.
    #expect(try await authority.upload(token: token).status == 200)
    let android = try await authority.upload(
      token: try await authority.token(), platform: "android", isVerified: false)
    #expect(android.status == 200)
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("An empty list of platforms switches the requirement off, with a warning on stderr")
  func off() async throws {
    let authority = try await ServedAuthority(
      ["keys/settings.json": #"{"deviceVerificationPlatforms": []}"#])
    #expect(try authority.servers.errors().contains("need no device verification payload"))
    #expect(
      try await authority.upload(token: try await authority.token(), isVerified: false).status
        == 200)
  }

  @Test("Without `baseURL`, DeviceCheck requests go to Apple's production host")
  func production() throws {
    let text = #"{"deviceCheck": {"teamID": "T", "keyID": "K", "keyFile": "key.p8"}}"#
    let folder = try TemporaryFolder()
    let file = folder.path("settings.json")
    try Data(text.utf8).write(to: file)
    let settings = try KeyServerSettings(
      SettingsFile(url: file), readsFiles: false)
    let address = settings.configuration.deviceCheck?.baseURL.absoluteString
    #expect(address == "https://api.devicecheck.apple.com")
  }

  @Test("With a team's key the device token is checked at the configured address")
  func checked() async throws {
    let apple = try StandInAuthority()
    let authority = try await ServedAuthority([
      "keys/settings.json": settings(apple.address),
      "keys/AuthKey_K1.p8": key.pemRepresentation,
    ])
    #expect(try authority.servers.errors().contains("checked at \(apple.address)"))
    let isAccepted = try await Self.isAnswered(200, asking: apple) {
      try await authority.upload(token: try await authority.token()).status
    }
    #expect(isAccepted)
    let request = try #require(apple.requests.first)
    #expect(request.path == "/v1/validate_device_token")
    let bearer = try #require(request.headers["authorization"]?.split(separator: " ").last)
    #expect(try isSigned(String(bearer)))
    #expect(try ServedAuthority.part(0, of: String(bearer))["kid"] as? String == "K1")
    #expect(try ServedAuthority.part(1, of: String(bearer))["iss"] as? String == "TEAM")
    let body = try JSONSerialization.jsonObject(with: request.body) as? [String: Any]
    #expect(body?["device_token"] as? String == Data("device".utf8).base64EncodedString())
    apple.respond(with: .init(status: 400, body: "Bad Device Token"))
    let token = try await authority.token()
    let isRefused = try await Self.isAnswered(403, asking: apple) {
      try await authority.upload(token: token).status
    }
    #expect(isRefused)
    apple.respond(with: .init(status: 500))
    let isUnavailable = try await Self.isAnswered(503, asking: apple) {
      try await authority.upload(token: token).status
    }
    #expect(isUnavailable)
  }

  /// True if an upload has this status after a request to `apple`. It is repeated if the test took longer to respond
  /// than a server waits; the request of an earlier attempt may be counted late then.
  private static func isAnswered(
    _ status: Int, asking apple: StandInAuthority,
    _ upload: nonisolated(nonsending) () async throws -> Int
  ) async throws -> Bool {
    try await Patience.succeeds(within: KeyServerLimit.deviceCheckSeconds) {
      let before = apple.requests.count
      return try await upload() == status && apple.requests.count > before
    }
  }

  @Test("An upload of an app that is not the team's is rejected without a request")
  func bundles() async throws {
    let apple = try StandInAuthority()
    let authority = try await ServedAuthority([
      "keys/settings.json": settings(apple.address, more: #", "bundleIDs": ["org.example"]"#)
        .replacing(
          "{\"deviceCheck",
          with: """
            {"appPackages": ["org.example", "pl.gov.mc.protegosafe"], "deviceCheck
            """),
      "keys/AuthKey_K1.p8": key.pemRepresentation,
    ])
    #expect(try await authority.upload(token: try await authority.token()).status == 403)
    #expect(apple.requests.isEmpty)
    #expect(
      try await authority.upload(token: try await authority.token(), app: "org.example").status
        == 200)
    #expect(apple.requests.count == 1)
  }

  @Test(
    "A key file that others can read, is missing or has no key, and a plain HTTP address, are refused"
  )
  func refused() async throws {
    for (files, rights, words) in [
      (["keys/AuthKey_K1.p8": key.pemRepresentation], 0o640, "chmod 600"),
      ([:], 0o600, "put it there"), (["keys/AuthKey_K1.p8": "no key"], 0o600, "P-256"),
      (["keys/AuthKey_K1.p8": " \n"], 0o600, "is empty"),
      (
        ["keys/AuthKey_K1.p8": String(repeating: "x", count: (16 << 10) + 1)], 0o600,
        "at most 16384 bytes"
      ),
    ] {
      let folder = try TemporaryFolder()
      let all = files.merging(["keys/settings.json": settings("https://example.com")]) { $1 }
      try ServedAuthority.write(all, in: folder, permissions: rights)
      let data = folder.path("data").path
      for command in [["key-server", "settings"], ["serve", "--port", "0"]] {
        let run = try await Run(command + ["--data", data])
        try #require(run.status == 2 && run.output.isEmpty, "\(command) \(words)")
        #expect(run.errors.contains("deviceCheck.keyFile") && run.errors.contains(words))
        #expect(run.errors.split(separator: "\n").count == 1)
        #expect(!run.errors.contains("PRIVATE"))
      }
    }
    let folder = try TemporaryFolder()
    try ServedAuthority.write(
      ["keys/settings.json": settings("http://example.com")], in: folder)
    let run = try await Run("key-server", "settings", "--data", folder.path("data").path)
    #expect(
      run.status == 2 && run.errors.contains("deviceCheck.baseURL must be an https URL"))
  }
}
