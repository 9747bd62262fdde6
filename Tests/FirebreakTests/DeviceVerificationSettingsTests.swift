import Crypto
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import firebreak

/// Documentation/Serving.md 10.
@Suite("Device verification, as an official sets it")
struct DeviceVerificationSettingsTests {
  private let key = P256.Signing.PrivateKey()

  /// Settings that ask the authority at `address`.
  private func settings(_ address: String, more: String = "") -> String {
    """
    {"deviceCheck": {"baseURL": "\(address)", "teamID": "TEAM", "keyID": "K1",
      "keyFile": "AuthKey_K1.p8"\(more)}}
    """
  }

  /// Whether `token` is signed with the team's key.
  private func isSigned(_ token: String) throws -> Bool {
    let parts = token.split(separator: ".")
    try #require(parts.count == 3)
    let text = parts[2].replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
    let bytes = try #require(Data(base64Encoded: text + padding))
    return key.publicKey.isValidSignature(
      try P256.Signing.ECDSASignature(rawRepresentation: bytes),
      for: Data("\(parts[0]).\(parts[1])".utf8))
  }

  @Test(
    "D16 Without settings iOS needs a payload for these keys, the start says what is not checked")
  func unset() async throws {
    let authority = try await ServedAuthority()
    let said = try authority.servers.errors()
    #expect(said.split(separator: "\n").count == 1)
    #expect(said.contains("device token is not: deviceCheck is not set"))
    let token = try authority.token()
    let none = try authority.upload(token: token, proves: false)
    #expect(none.status == 403 && none.error?["status"] as? String == "PERMISSION_DENIED")
    let unreadable = try authority.upload(token: token) {
      $0.data.deviceVerificationPayload = "e30="
    }
    #expect(unreadable.status == 400)
    let others = try authority.upload(token: token) {
      $0.data.temporaryExposureKeys[0].key = Data(repeating: 7, count: 16).base64EncodedString()
    }
    #expect(others.status == 403)
    // The refusals cost nothing.
    #expect(try authority.upload(token: token).status == 200)
    let android = try authority.upload(
      token: try authority.token(), platform: "android", proves: false)
    #expect(android.status == 200)
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("An operator may switch the requirement off by its name, and the start says so")
  func off() async throws {
    let authority = try await ServedAuthority(
      ["keys/settings.json": #"{"deviceVerificationPlatforms": []}"#])
    #expect(try authority.servers.errors().contains("need no device verification payload"))
    #expect(try authority.upload(token: try authority.token(), proves: false).status == 200)
  }

  @Test("D15 Who sets no address asks Apple's production host")
  func production() throws {
    let text = #"{"teamID": "T", "keyID": "K", "keyFile": "key.p8"}"#
    let settings = try JSONDecoder().decode(DeviceCheckSettings.self, from: Data(text.utf8))
    #expect(settings.baseURL == "https://api.devicecheck.apple.com")
  }

  @Test("D15 With a team's key the device token is checked at the address that is set")
  func checked() async throws {
    let apple = try StandInAuthority()
    let authority = try await ServedAuthority([
      "keys/settings.json": settings(apple.address),
      "keys/AuthKey_K1.p8": key.pemRepresentation,
    ])
    #expect(try authority.servers.errors().contains("checked at \(apple.address)"))
    #expect(try authority.upload(token: try authority.token()).status == 200)
    let question = try #require(apple.questions.first)
    #expect(question.path == "/v1/validate_device_token")
    let bearer = try #require(question.headers["authorization"]?.split(separator: " ").last)
    #expect(try isSigned(String(bearer)))
    #expect(try ServedAuthority.part(0, of: String(bearer))["kid"] as? String == "K1")
    #expect(try ServedAuthority.part(1, of: String(bearer))["iss"] as? String == "TEAM")
    let body = try JSONSerialization.jsonObject(with: question.body) as? [String: Any]
    #expect(body?["device_token"] as? String == Data("device".utf8).base64EncodedString())
    apple.now(says: .init(status: 400, body: "Bad Device Token"))
    let token = try authority.token()
    #expect(try authority.upload(token: token).status == 403)
    apple.now(says: .init(status: 500))
    #expect(try authority.upload(token: token).status == 503)
    #expect(apple.questions.count == 3)
  }

  @Test("An app that is not the team's is refused without asking")
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
    #expect(try authority.upload(token: try authority.token()).status == 403)
    #expect(apple.questions.isEmpty)
    #expect(try authority.upload(token: try authority.token(), app: "org.example").status == 200)
    #expect(apple.questions.count == 1)
  }

  @Test(
    "A key file that others can read, that is missing or holds none, or a plain address, is refused"
  )
  func refused() throws {
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
      try ServedAuthority.lay(all, in: folder, rights: rights)
      let data = folder.path("data").path
      for command in [["key-server", "settings"], ["serve", "--port", "0"]] {
        let run = try Run(command + ["--data", data])
        try #require(run.status == 2 && run.output.isEmpty, "\(command) \(words)")
        #expect(run.errors.contains("deviceCheck.keyFile") && run.errors.contains(words))
        #expect(run.errors.split(separator: "\n").count == 1)
        #expect(!run.errors.contains("PRIVATE"))
      }
    }
    let folder = try TemporaryFolder()
    try ServedAuthority.lay(
      ["keys/settings.json": settings("http://example.com")], in: folder)
    let run = try Run("key-server", "settings", "--data", folder.path("data").path)
    #expect(run.status == 2 && run.errors.contains("deviceCheck.baseURL needs an address of https"))
  }
}
