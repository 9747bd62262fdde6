// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import ServerStorage
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

@Suite("Exchange of PINs for upload tokens")
struct CodeRedeemerTests {
  static let keyHMACs = [nil, Data(repeating: 1, count: 32), Data(repeating: 2, count: 32)]

  let bench: VerificationBench

  init() throws {
    bench = try VerificationBench()
  }

  @Test("A token contains the test result and the HMAC, and not the code")
  func token() async throws {
    let code = try await bench.code()
    let hmac = try #require(Self.keyHMACs[1])
    let token = try await bench.redeemer().token(for: code, keyHMAC: hmac)
    let text = try #require(token)
    let grant = try await bench.grant(of: text)
    #expect(grant.reportType == "confirmed")
    #expect(grant.symptomOnsetInterval == 2_999_952)
    #expect(grant.keyHMAC == hmac)
    #expect(grant.issuedAt == VerificationBench.start)
    #expect(grant.expiresAt == VerificationBench.start + 1800)
    #expect(UUID(uuidString: grant.tokenID) != nil)
    for part in text.split(separator: ".").dropLast() {
      let padding = String(repeating: "=", count: (4 - part.count % 4) % 4)
      let standard = part.replacing("-", with: "+").replacing("_", with: "/")
      let bytes = Data(base64Encoded: standard + padding)
      let shown = String(decoding: try #require(bytes), as: UTF8.self)
      #expect(!shown.contains(code.characters))
    }
  }

  @Test("A retry with the same HMAC gets the same token; another HMAC gets none")
  func lostResponse() async throws {
    for first in Self.keyHMACs {
      let code = try await bench.code()
      let token = try await bench.redeemer().token(for: code, keyHMAC: first)
      #expect(token != nil)
      for other in Self.keyHMACs {
        let again = try await bench.redeemer().token(for: code, keyHMAC: other)
        #expect(again == (other == first ? token : nil))
      }
    }
  }

  @Test("A retry gets the same, still valid token up to the last second of the code")
  func lastSecond() async throws {
    let code = try await bench.code()
    let token = try await bench.redeemer().token(for: code, keyHMAC: nil)
    bench.clock.advance(by: VerificationBench.lifetime - 1)
    let again = try await bench.redeemer().token(for: code, keyHMAC: nil)
    #expect(again == token)
    _ = try await bench.grant(of: try #require(again))
    bench.clock.advance(by: 1)
    #expect(try await bench.redeemer().token(for: code, keyHMAC: nil) == token)
    bench.clock.advance(by: 1)
    #expect(try await bench.redeemer().token(for: code, keyHMAC: nil) == nil)
  }

  @Test("A code is valid in its last second and not in the next; an unknown code is not valid")
  func expiry() async throws {
    let early = try await bench.code()
    let late = try await bench.code()
    bench.clock.advance(by: VerificationBench.lifetime)
    #expect(try await bench.redeemer().token(for: early, keyHMAC: nil) != nil)
    bench.clock.advance(by: 1)
    #expect(try await bench.redeemer().token(for: late, keyHMAC: nil) == nil)
    let unknown = VerificationCode.drawn(from: SystemRandomness())
    #expect(try await bench.redeemer().token(for: unknown, keyHMAC: nil) == nil)
  }

  @Test("Of fifty concurrent requests with one code and different HMACs exactly one gets a token")
  func fiftyHMACs() async throws {
    let code = try await bench.code()
    let tokens = try await ask(50, code) { Data(repeating: UInt8($0), count: 32) }
    #expect(tokens.compactMap { $0 }.count == 1)
  }

  @Test("Fifty concurrent requests with one code and one HMAC get the same token")
  func fiftyAlike() async throws {
    let code = try await bench.code()
    let tokens = try await ask(50, code) { _ in Data(repeating: 1, count: 32) }
    #expect(tokens.allSatisfy { $0 != nil })
    #expect(Set(tokens).count == 1)
  }

  @Test("All token IDs are different")
  func tokenIDs() async throws {
    var names: Set<String> = []
    for _ in 0..<50 {
      let token = try await bench.redeemer().token(for: try await bench.code(), keyHMAC: nil)
      names.insert(try await bench.grant(of: try #require(token)).tokenID)
    }
    #expect(names.count == 50)
  }

  @Test("If signing fails the code stays valid")
  func signingFails() async throws {
    let code = try await bench.code()
    await #expect(throws: VerificationServerError.signingUnavailable) {
      try await bench.redeemer(signing: BrokenSigner(error: POSIXError(.EIO))).token(
        for: code, keyHMAC: Self.keyHMACs[1])
    }
    #expect(try await bench.redeemer().token(for: code, keyHMAC: Self.keyHMACs[2]) != nil)
  }

  @Test("A cancelled request is not taken for a key that cannot sign, and neither is a busy token")
  func notSigned() async throws {
    let code = try await bench.code()
    await #expect(throws: CancellationError.self) {
      try await bench.redeemer(signing: BrokenSigner(error: CancellationError())).token(
        for: code, keyHMAC: nil)
    }
    await #expect(throws: VerificationServerError.signingBusy) {
      try await bench.redeemer(signing: BrokenSigner(error: SignerCallsBusy())).token(
        for: code, keyHMAC: nil)
    }
    #expect(try await bench.redeemer().token(for: code, keyHMAC: nil) != nil)
  }

  @Test("With another secret no code is found and no stored token can be decrypted")
  func otherSecret() async throws {
    let code = try await bench.code()
    let token = try await bench.redeemer().token(for: code, keyHMAC: nil)
    let others = try VerificationBench.keys(8)
    #expect(try await bench.redeemer(keys: others).token(for: code, keyHMAC: nil) == nil)

    let live = try await bench.storage.liveCode(bench.keys.hash(of: code), at: bench.clock.now)
    let sealed = try #require(live?.redemption?.sealedToken)
    #expect(try sealed.text(for: code, keys: bench.keys) == token)
    #expect(throws: (any Error).self) { try sealed.text(for: code, keys: others) }
    let another = VerificationCode.drawn(from: SystemRandomness())
    #expect(throws: (any Error).self) { try sealed.text(for: another, keys: bench.keys) }
  }

  @Test("Code, token and HMAC are not readable in the database or its log")
  func atRest() async throws {
    let code = try await bench.code()
    let hmac = Data(SystemRandomness().bytes(32))
    let response = try await bench.redeemer().token(for: code, keyHMAC: hmac)
    let token = try #require(response)
    let grant = try await bench.grant(of: token)
    let files = bench.folder.files()
    #expect(files.contains { $0.lastPathComponent.hasSuffix("-wal") })
    let hash = bench.keys.hash(of: code).bytes
    var hashFound = false
    for file in files {
      let bytes = try Data(contentsOf: file)
      for secret in [code.characters, grant.tokenID, hmac.base64EncodedString(), "eyJ"] {
        #expect(bytes.range(of: Data(secret.utf8)) == nil)
      }
      for part in token.split(separator: ".") {
        #expect(bytes.range(of: Data(part.utf8)) == nil)
      }
      #expect(bytes.range(of: hmac) == nil)
      #expect(bytes.range(of: Data(SHA256.hash(data: Data(code.characters.utf8)))) == nil)
      hashFound = hashFound || bytes.range(of: hash) != nil
    }
    #expect(hashFound, "the search does not find the hash, which is stored")
  }

  private func ask(
    _ count: Int, _ code: VerificationCode, keyHMAC: (Int) -> Data
  ) async throws -> [String?] {
    let redemption = bench.redeemer()
    return try await withThrowingTaskGroup(of: String?.self) { group in
      for index in 0..<count {
        let hmac = keyHMAC(index)
        group.addTask { try await redemption.token(for: code, keyHMAC: hmac) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  private struct BrokenSigner: TokenSigning {
    let error: any Error

    func token(for grant: UploadGrant) async throws -> String { throw error }
  }
}
