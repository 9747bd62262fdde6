// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import TextEncodings
import WebPages
import World

@testable import HealthAuthorityConsole

/// One below, on and above the limits of the console.
@Suite struct LimitTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("A secret of another length, and an origin that passkeys cannot have, are refused")
  func configuration() {
    func fault(_ bytes: Int, _ origin: String? = nil) -> ConsoleError? {
      var configuration = ConsoleConfiguration(
        databaseFile: folder.path("console.sqlite"), secret: Data(count: bytes))
      configuration.origin = origin
      do throws(ConsoleError) {
        try configuration.check()
        return nil
      } catch {
        return error
      }
    }
    #expect(fault(31) != nil && fault(32) == nil && fault(33) != nil)
    for origin in ["https://console.example", "http://localhost:8082"] {
      #expect(fault(32, origin) == nil)
    }
    for origin in ["http://console.example", "https://console.example/", "console", ""] {
      #expect(fault(32, origin) != nil, "\(origin)")
    }
  }

  @Test("Names have 2 to 64 letters, digits and plain signs")
  func names() {
    func accepts(_ text: String) -> Bool {
      AccountName.checked(text, ConsoleLimit.nameCharacters) != nil
    }
    #expect(!accepts("a") && accepts("ab") && !accepts(" a "))
    #expect(accepts(String(repeating: "a", count: 64)))
    #expect(!accepts(String(repeating: "a", count: 65)))
    #expect(accepts("Żaneta O'Neill-Nowak") && !accepts("a<b>") && !accepts("a\nb"))
  }

  @Test("A password has at least 12 characters and at most 512 bytes")
  func passwords() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let administrator = try await console.signedIn(.administrator)
      for (index, length) in [11, 12, 512, 513].enumerated() {
        let made = try await console.change(
          "/accounts", ["name": "user \(index)", "role": "issuer"], approvedBy: administrator)
        let link = try #require(made.element("link"))
        let path = try #require(URL(string: link)?.path)
        let browser = console.browser()
        let key = try #require(try await browser.get(path).element("key"))
        let generator = try #require(CodeGenerator(typed: key))
        let code = generator.code(step: CodeGenerator.step(at: console.clock.now.unixSecond))
        let response = try await browser.post(
          path, ["password": String(repeating: "a", count: length), "code": code])
        #expect(response.status == ((12...512).contains(length) ? 200 : 422), "\(length)")
      }
    }
  }

  @Test("A form has at most 64 fields")
  func fields() throws {
    func form(_ count: Int) throws -> Form {
      let body = (0..<count).map { "f\($0)=1" }.joined(separator: "&")
      return try Form(
        Data(body.utf8), contentType: Form.urlEncodedType, fieldsMax: ConsoleLimit.formFieldsMax)
    }
    #expect(try form(63)["f0"] == "1")
    #expect(try form(64)["f63"] == "1")
    #expect(throws: MalformedForm.self) { try form(65) }
  }

  @Test("An account has at most ten passkeys")
  func passkeys() async throws {
    let keys = try #require(ConsoleKeys(Data(count: 32), byteCount: 32))
    let database = try ConsoleDatabase(file: folder.path("console.sqlite"), keys: keys)
    let clock = ManualClock(RunningConsole.start)
    let audit = AuditLog(
      database: database, key: AuditKey(keys), clock: clock, fieldBytesMax: 8)
    let accounts = AccountStore(
      database: database, audit: audit, keys: keys, clock: clock, randomness: TestRandomness())
    let account = try await accounts.add(name: "Anna", role: .issuer, by: "a very long name")
    let store = PasskeyStore(database: database, audit: audit, clock: clock)
    let publicKey = P256.Signing.PrivateKey().publicKey.x963Representation
    for number in 1...11 as ClosedRange<UInt8> {
      let credential = PasskeyCeremony.Credential(
        id: Data([number]), publicKey: publicKey, signCount: 0)
      let challenge = PasskeyChallenges.Challenge(bytes: Data([number]), expiresAt: .max)
      let isAdded = try await store.add(credential, name: "key", to: account, with: challenge)
      #expect(isAdded == (number <= 10))
    }
    let actors = try await audit.newest(20).map(\.actor)
    #expect(actors.last == "a very l", "a field longer than the limit is cut")
  }

  @Test("A credential id has 1 to 1023 bytes")
  func credentials() throws {
    func refusal(_ length: Int) -> PasskeyRefusal? {
      var bytes = [UInt8](repeating: 0, count: 32) + [0x45, 0, 0, 0, 0]
      bytes += [UInt8](repeating: 0, count: 16) + [UInt8(length >> 8), UInt8(length & 255)]
      bytes += [UInt8](repeating: 1, count: length)
      // No key of ES256: the id was accepted if this is found.
      bytes += [0xA0]
      do throws(PasskeyRefusal) {
        _ = try AuthenticatorData(Data(bytes), limits: .console)
        return nil
      } catch {
        return error
      }
    }
    #expect(refusal(0) == .malformed && refusal(1) == .unsupportedKey)
    #expect(refusal(1_023) == .unsupportedKey && refusal(1_024) == .malformed)
  }

  @Test("CBOR is nested at most four deep and has at most 64 items")
  func cbor() {
    func reads(_ hex: String) -> Bool {
      var reader = CBORReader(Data(hexadecimal: hex) ?? Data(), depthMax: 4, itemsMax: 64)
      return (try? reader.value()) != nil
    }
    func nested(_ depth: Int) -> String { String(repeating: "81", count: depth) + "00" }
    #expect(reads(nested(3)) && reads(nested(4)) && !reads(nested(5)))
    func items(_ count: Int) -> String {
      "98" + String(format: "%02x", count) + String(repeating: "00", count: count)
    }
    #expect(reads(items(63)) && reads(items(64)) && !reads(items(65)))
  }

  @Test("A configuration has at most 64 KiB, and 20 proposals may be open")
  func proposals() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.epidemiologist)
      let document = String(
        decoding: try JSONEncoder().encode(RemoteConfiguration(version: 3)), as: UTF8.self
      ).replacing("1499", with: "1400")
      let large = try await browser.post(
        "/configuration/preview",
        ["document": String(repeating: "a", count: (64 << 10) + 1), "reason": "x"])
      #expect(large.status == 413)
      let allowed = try await browser.post(
        "/configuration/preview",
        ["document": String(repeating: "a", count: 64 << 10), "reason": "x"])
      #expect(allowed.status == 422)
      for number in 1...21 {
        let page = try await browser.post(
          "/configuration/propose", ["document": document, "reason": "change \(number)"])
        #expect(page.status == (number <= 20 ? 200 : 422), "\(number)")
        if number > 20 {
          #expect(page.element("fault")?.hasPrefix("There are 20 open proposals") == true)
          #expect(page.text.contains(">change 21</textarea>"))
        }
      }
    }
  }
}
