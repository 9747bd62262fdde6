// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TestSupport
import Testing
import TextEncodings

@testable import HealthAuthorityConsole

/// Passkeys: the two ceremonies, the reader of CBOR, and the pages.
@Suite struct PasskeyTests {
  private static let origin = "http://localhost:8082"

  private static var ceremony: PasskeyCeremony? {
    PasskeyCeremony(origin: origin, limits: .console)
  }

  private static func registered(_ authenticator: SoftwareAuthenticator) throws
    -> PasskeyCeremony.Credential
  {
    try #require(ceremony).credential(
      PasskeyCeremony.Registration(
        clientData: authenticator.clientData("webauthn.create", "AAAA"),
        attestation: authenticator.attestation), accepts: { $0 == Data([0, 0, 0]) })
  }

  @Test("A registered passkey signs in, and its counter is stored")
  func ceremonies() throws {
    var authenticator = SoftwareAuthenticator(origin: Self.origin)
    let credential = try Self.registered(authenticator)
    #expect(credential.id == authenticator.id)
    authenticator.signCount = 5
    let used = try #require(Self.ceremony).credential(
      credential, after: try authenticator.assertion("AAAA", handle: Data()), accepts: { _ in true }
    )
    #expect(used.signCount == 5)
    #expect(throws: PasskeyRefusal.copied) {
      _ = try #require(Self.ceremony).credential(
        used, after: try authenticator.assertion("AAAA", handle: Data()), accepts: { _ in true })
    }
  }

  @Test("Another origin, host, challenge, ceremony, user or key is refused")
  func refusals() throws {
    let good = SoftwareAuthenticator(origin: Self.origin)
    let credential = try Self.registered(good)
    func refusal(
      _ assertion: PasskeyCeremony.Assertion, accepts: Bool = true
    ) throws -> PasskeyRefusal? {
      let ceremony = try #require(Self.ceremony)
      do throws(PasskeyRefusal) {
        _ = try ceremony.credential(credential, after: assertion, accepts: { _ in accepts })
        return nil
      } catch {
        return error
      }
    }
    func changed(_ change: (inout SoftwareAuthenticator) -> Void) throws
      -> PasskeyCeremony.Assertion
    {
      var authenticator = good
      change(&authenticator)
      return try authenticator.assertion("AAAA", handle: Data())
    }
    #expect(try refusal(changed { _ in }) == nil)
    #expect(try refusal(changed { _ in }, accepts: false) == .ceremonyMismatch)
    #expect(try refusal(changed { $0.origin = "https://evil.example" }) == .ceremonyMismatch)
    #expect(try refusal(changed { $0.host = "evil.example" }) == .ceremonyMismatch)
    #expect(try refusal(changed { $0.flags = 0x01 }) == .unverifiedUser)
    let stranger = SoftwareAuthenticator(origin: Self.origin)
    #expect(try refusal(stranger.assertion("AAAA", handle: Data())) == .badSignature)
    let own = try good.assertion("AAAA", handle: Data())
    let registration = PasskeyCeremony.Assertion(
      credentialID: own.credentialID, clientData: good.clientData("webauthn.create", "AAAA"),
      authenticatorData: own.authenticatorData, signature: own.signature, userHandle: Data())
    #expect(try refusal(registration) == .ceremonyMismatch)
  }

  @Test(
    "Passkeys are not available if the host is an IP address",
    arguments: ["http://127.0.0.1:8082", "http://[::1]:1"])
  func address(origin: String) {
    #expect(PasskeyCeremony(origin: origin, limits: .console) == nil)
  }

  @Test("A challenge is valid for its purpose, for ten minutes, in every process with the secret")
  func challenges() throws {
    func challenges(secret: UInt8) throws -> PasskeyChallenges {
      let keys = try #require(ConsoleKeys(Data(repeating: secret, count: 32), byteCount: 32))
      return PasskeyChallenges(keys: keys, seconds: 600, randomness: TestRandomness())
    }
    let (own, other) = (try challenges(secret: 1), try challenges(secret: 1))
    let challenge = own.challenge(for: "a", at: 1_000)
    #expect(own.checked(challenge, for: "b", at: 1_000) == nil)
    #expect(own.checked(challenge, for: "a", at: 1_600) == nil)
    #expect(own.checked(Data(challenge.dropLast()), for: "a", at: 1_000) == nil)
    let checked = try #require(own.checked(challenge, for: "a", at: 1_599))
    #expect(checked.expiresAt == 1_600 && !challenge.suffix(16).elementsEqual(checked.bytes))
    #expect(other.checked(challenge, for: "a", at: 1_599) == checked)
    #expect(try challenges(secret: 2).checked(challenge, for: "a", at: 1_000) == nil)
  }

  @Test("The CBOR examples of RFC 8949 are decoded")
  func cbor() throws {
    func value(_ hex: String) throws -> CBOR {
      var reader = CBORReader(Data(hexadecimal: hex) ?? Data(), depthMax: 4, itemsMax: 64)
      let value = try reader.value()
      #expect(reader.isAtEnd)
      return value
    }
    #expect(try value("00") == .number(0))
    #expect(try value("1818") == .number(24))
    #expect(try value("1903e8") == .number(1_000))
    #expect(try value("1b000000e8d4a51000") == .number(1_000_000_000_000))
    #expect(try value("29") == .number(-10))
    #expect(try value("3903e7") == .number(-1_000))
    #expect(try value("f5") == .boolean(true))
    #expect(try value("f6") == .null)
    #expect(try value("4401020304") == .bytes(Data([1, 2, 3, 4])))
    #expect(try value("6449455446") == .text("IETF"))
    #expect(
      try value("8301820203820405")
        == .array([
          .number(1), .array([.number(2), .number(3)]), .array([.number(4), .number(5)]),
        ]))
    #expect(
      try value("a26161016162820203")
        == .map([.text("a"): .number(1), .text("b"): .array([.number(2), .number(3)])]))
  }

  @Test(
    "Truncated, non-canonical and unsupported CBOR is rejected",
    arguments: [
      "", "18", "1817", "190017", "1a00000001", "1b0000000000000001", "5f42010243030405ff", "9fff",
      "c11a514b67b0", "f90000", "f7", "62c328", "4402", "a2616101616102", "1bffffffffffffffff",
      "8181818181818100", "9a00ffffff",
    ])
  func badCBOR(hex: String) {
    #expect(throws: CBORReader.Malformed.self) {
      var reader = CBORReader(Data(hexadecimal: hex) ?? Data(), depthMax: 4, itemsMax: 64)
      _ = try reader.value()
    }
  }

  @Test("A passkey is added on the account page and signs in without a password, also while locked")
  func pages() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.issuer, name: "Anna")
      let authenticator = SoftwareAuthenticator(origin: "http://localhost:\(console.port)")
      let own = try await browser.get("/own")
      func attribute(_ name: String, _ page: ConsoleBrowser.Response) throws -> String {
        let pattern = try Regex("data-\(name)=\"([^\"]*)\"")
        let value = page.text.firstMatch(of: pattern)?.output[1].substring
        return String(try #require(value))
      }
      let challenge = try attribute("challenge", own)
      let fields = [
        "passkey-name": "laptop",
        "client-data": authenticator.clientData("webauthn.create", challenge).base64URL,
        "attestation": authenticator.attestation.base64URL,
      ]
      #expect(try await browser.post("/own/passkeys", fields).status == 303)
      let again = try await browser.post("/own/passkeys", fields)
      #expect(again.status == 422 && again.element("fault")?.contains("question") == true)
      #expect(try await browser.get("/own").text.contains("<th scope=\"row\">laptop</th>"))

      console.clock.advance(by: TimeInterval(ConsoleLimit.freshSessionSeconds))
      let old = try await browser.get("/own")
      #expect(old.element("old-session") != nil && !old.text.contains("data-challenge"))
      #expect(try await browser.post("/own/passkeys", fields).text.contains("old-session"))

      let other = console.browser()
      for _ in 1...6 {
        _ = try await other.post("/sign-in", ["name": "Anna", "password": "x", "code": "1"])
      }
      let form = try await other.get("/sign-in")
      let handle = Data(base64URL: try attribute("user", own))
      let assertion = try authenticator.assertion(
        try attribute("challenge", form), handle: try #require(handle))
      let answer = [
        "id": assertion.credentialID.base64URL, "client-data": assertion.clientData.base64URL,
        "authenticator-data": assertion.authenticatorData.base64URL,
        "signature": assertion.signature.base64URL, "user-handle": assertion.userHandle.base64URL,
      ]
      #expect(try await other.post("/sign-in/passkey", answer).status == 303)
      #expect(try await other.get("/").element("signed-in") == "Signed in as Anna, issuer")
      let replayed = try await console.browser().post("/sign-in/passkey", answer)
      #expect(replayed.status == 401)
      let removed = try await browser.post(
        "/own/passkeys/remove", ["id": authenticator.id.base64URL])
      #expect(removed.status == 303)
      #expect(try await browser.get("/own").text.contains("You have no passkey yet."))
    }
  }
}
