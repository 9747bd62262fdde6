// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PKCS11

@Suite("Key on a token (SoftHSM)", .needs(.process), .serialized)
struct TokenKeyTests {
  /// SoftHSM reads its configuration once for each process, and each test has a token of its own.
  /// No label begins with another one: pkcs11-tool would take either token.
  private static let tokens = Task {
    let token = try await SoftToken(labels: ["signs", "pin", "several", "many", "away", "other"])
    for (name, value) in token.environment { setenv(name, value, 1) }
    try await token.createKey("k", on: "signs", id: "01")
    try await token.createKey("p384", on: "signs", id: "02", curve: "secp384r1")
    try await token.createKey("asks", on: "signs", id: "03", isInteractive: true)
    for label in ["pin", "several"] { try await token.createKey("k", on: label, id: "01") }
    for id in ["01", "02"] { try await token.createKey("k", on: "many", id: id) }
    try await token.createKey("k", on: "away", id: "01")
    try await token.createKey("k", on: "other", id: "01")
    return token
  }

  /// A library of every machine, which is not a module.
  private static let otherLibrary: String = {
    #if arch(arm64)
      "/lib/aarch64-linux-gnu/libc.so.6"
    #else
      "/lib/x86_64-linux-gnu/libc.so.6"
    #endif
  }()

  private static let digest = SHA256.hash(data: Data("export".utf8))

  private func token() async throws -> SoftToken { try await Self.tokens.value }

  private static let readPIN: TokenKey.PINReader = {
    try String(contentsOfFile: $0, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func open(
    _ text: String, readPIN: @escaping TokenKey.PINReader = Self.readPIN
  ) throws -> TokenKey {
    try TokenKey(opening: TokenKeyURI(text), readPIN: readPIN)
  }

  @Test("A key signs, and OpenSSL verifies the signature with the public key of the token")
  func signs() async throws {
    let token = try await token()
    let key = try open(token.uri("k", on: "signs"))
    let folder = try TemporaryFolder()
    try Data(key.publicKey.pemRepresentation.utf8).write(to: folder.path("public.pem"))
    try Data("export".utf8).write(to: folder.path("data"))
    // Many signatures: halves with leading zeros and high bits have other lengths in DER.
    for round in 1...600 {
      let signature = try key.signature(for: Self.digest)
      #expect(key.publicKey.isValidSignature(signature, for: Self.digest))
      guard round == 1 else { continue }
      try signature.derRepresentation.write(to: folder.path("signature"))
      let run = try await ChildProcess.run(
        URL(fileURLWithPath: "/usr/bin/openssl"),
        [
          "dgst", "-sha256", "-verify", folder.path("public.pem").path, "-signature",
          folder.path("signature").path, folder.path("data").path,
        ])
      #expect(run.status == 0 && run.output == "Verified OK\n", "\(run.errors)")
    }
    try key.checkAvailability()
    #expect("\(key)" == "TokenKey(k)")
  }

  @Test("Signatures on many threads at once are all valid")
  func concurrent() async throws {
    let key = try open(try await token().uri("k", on: "signs"))
    let valid = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<64 {
        group.addTask {
          let digest = SHA256.hash(data: Data("\(number)".utf8))
          guard let signature = try? key.signature(for: digest) else { return false }
          return key.publicKey.isValidSignature(signature, for: digest)
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(valid == 64)
  }

  @Test(
    "What is missing is named: module, token, key; so are a key that is not unique and one of another curve"
  )
  func missing() async throws {
    let token = try await token()
    let uri = token.uri("k", on: "signs")
    let cases = [
      (uri.replacing("libsofthsm2.so", with: "missing.so"), "missing.so cannot be loaded"),
      (
        uri.replacing(SoftToken.module, with: Self.otherLibrary),
        "not a PKCS#11 module"
      ),
      (uri.replacing(SoftToken.module, with: "libsofthsm2.so"), "absolute path"),
      (uri.replacing("token=signs", with: "token=sign"), "The token sign is not present"),
      (uri.replacing("object=k", with: "object=x"), "no private key x"),
      (uri.replacing("object=k", with: "object=p384"), "p384 is not a P-256 key"),
      (uri.replacing("object=k", with: "object=asks"), "asks needs the PIN at each signature"),
      (token.uri("k", on: "many"), "several private keys k"),
      (String(uri.prefix { $0 != "&" }), "needs a PIN"),
    ]
    for (text, fault) in cases {
      let error = #expect(throws: TokenKeyError.self) { _ = try open(text) }
      #expect("\(try #require(error))".contains(fault), "\(text): \(String(describing: error))")
    }
    // The id chooses between keys of one label.
    let chosen = token.uri("k", on: "many").replacing("object=k", with: "object=k;id=%02")
    _ = try open(chosen)
  }

  @Test("A wrong PIN is tried once, and again only after the file has changed")
  func wrongPIN() async throws {
    let uri = try await token().uri("k", on: "pin")
    let pin = Mutex("000000")
    let read: TokenKey.PINReader = { _ in pin.withLock { $0 } }
    let first = #expect(throws: TokenKeyError.self) { _ = try open(uri, readPIN: read) }
    let description = "\(try #require(first))"
    #expect(description.contains("refused the PIN") && !description.contains("000000"))
    // Another process logs in, which resets the count of the token. A second try of ours would set it again.
    try await self.token().createKey("l", on: "pin", id: "09")
    for _ in 1...5 {
      let again = #expect(throws: TokenKeyError.self) { _ = try open(uri, readPIN: read) }
      guard case .wrongPIN(_, _, let isLow)? = again else {
        Issue.record("\(String(describing: again))")
        continue
      }
      #expect(!isLow)
    }
    pin.withLock { $0 = SoftToken.pin }
    _ = try open(uri, readPIN: read)
  }

  @Test(
    "Each wrong PIN of a token is tried once, whether the URI has its label or its serial number")
  func wrongPINs() async throws {
    let token = try await token()
    let byLabel = token.uri("k", on: "several")
    let serial = try await token.serial(of: "several")
    let bySerial = byLabel.replacing("token=several", with: "serial=\(serial)")
    for (uri, pin) in [(byLabel, "000001"), (bySerial, "000002")] {
      #expect(throws: TokenKeyError.self) { _ = try open(uri) { _ in pin } }
    }
    // Resets the count of the token; each further try of ours would set it again.
    try await token.createKey("l", on: "several", id: "09")
    for uri in [byLabel, bySerial] {
      for pin in ["000001", "000002"] {
        let error = #expect(throws: TokenKeyError.self) { _ = try open(uri) { _ in pin } }
        guard case .wrongPIN(_, _, let isLow)? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(!isLow, "\(uri) \(pin)")
      }
    }
    _ = try open(bySerial)
  }

  @Test("A key that is missing on one token does not end the session with another one")
  func sessions() async throws {
    let token = try await token()
    let reads = Mutex(0)
    let key = try open(token.uri("k", on: "signs")) {
      reads.withLock { $0 += 1 }
      return try Self.readPIN($0)
    }
    let other = try open(token.uri("k", on: "other"))
    let before = reads.withLock { $0 }
    let missing = TokenKey(
      try TokenKeyURI(token.uri("missing", on: "other")), publicKey: other.publicKey,
      readPIN: Self.readPIN)
    for _ in 1...3 {
      #expect(throws: TokenKeyError.missingKey("missing")) { try missing.checkAvailability() }
      _ = try other.signature(for: Self.digest)
      _ = try key.signature(for: Self.digest)
    }
    // The PIN is read for each session.
    #expect(reads.withLock { $0 } == before)
  }

  @Test("A key that is not the registered one is refused, although it signs")
  func otherKey() async throws {
    let uri = try TokenKeyURI(try await token().uri("k", on: "other"))
    let key = TokenKey(uri, publicKey: P256.Signing.PrivateKey().publicKey, readPIN: Self.readPIN)
    #expect(throws: TokenKeyError.otherKey("k")) { _ = try key.signature(for: Self.digest) }
    #expect(throws: TokenKeyError.otherKey("k")) { try key.checkAvailability() }
  }

  @Test("A token that is removed while it is in use is missing, and signs again after it is back")
  func removed() async throws {
    let token = try await token()
    let key = try open(token.uri("k", on: "away"))
    for _ in 1...2 {
      try token.remove()
      #expect(throws: TokenKeyError.self) { try key.checkAvailability() }
      #expect(throws: TokenKeyError.self) { _ = try key.signature(for: Self.digest) }
      try token.insert()
      try key.checkAvailability()
      _ = try key.signature(for: Self.digest)
    }
  }
}
