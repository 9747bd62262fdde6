import Crypto
import Foundation
import TestSupport
import Testing
import UploadToken
import VerificationAPI
import World

@testable import VerificationServer

@Suite("Seed 2.1 and 3: a code for a token")
struct CodeRedemptionTests {
  static let hmacs = [nil, Data(repeating: 1, count: 32), Data(repeating: 2, count: 32)]

  let bench: VerificationBench

  init() throws {
    bench = try VerificationBench()
  }

  @Test("2.11, 5.10 A token says what was found, is bound to the keys, and holds no code")
  func token() async throws {
    let code = try await bench.code()
    let hmac = try #require(Self.hmacs[1])
    let token = try await bench.redemption().token(for: code, keyHMAC: hmac)
    let text = try #require(token)
    let grant = try await bench.grant(of: text)
    #expect(grant.reportType == "confirmed")
    #expect(grant.symptomOnsetInterval == 2_999_952)
    #expect(grant.keyHMAC == hmac)
    #expect(grant.issuedAt == HandClock.start)
    #expect(grant.expiresAt == HandClock.start + 1800)
    #expect(UUID(uuidString: grant.tokenID) != nil)
    for part in text.split(separator: ".").dropLast() {
      let padding = String(repeating: "=", count: (4 - part.count % 4) % 4)
      let standard = part.replacing("-", with: "+").replacing("_", with: "/")
      let bytes = Data(base64Encoded: standard + padding)
      let shown = String(decoding: try #require(bytes), as: UTF8.self)
      #expect(!shown.contains(code.characters))
    }
  }

  @Test("D14 Who asks again in the same way gets the same token, and who asks otherwise gets none")
  func lostAnswer() async throws {
    for first in Self.hmacs {
      let code = try await bench.code()
      let token = try await bench.redemption().token(for: code, keyHMAC: first)
      #expect(token != nil)
      for other in Self.hmacs {
        let again = try await bench.redemption().token(for: code, keyHMAC: other)
        #expect(again == (other == first ? token : nil))
      }
    }
  }

  @Test("The same token is given up to the code's last second, and is still good then")
  func lastSecond() async throws {
    let code = try await bench.code()
    let token = try await bench.redemption().token(for: code, keyHMAC: nil)
    bench.clock.advance(VerificationBench.lifetime - 1)
    let again = try await bench.redemption().token(for: code, keyHMAC: nil)
    #expect(again == token)
    _ = try await bench.grant(of: try #require(again))
    bench.clock.advance(1)
    #expect(try await bench.redemption().token(for: code, keyHMAC: nil) == token)
    bench.clock.advance(1)
    #expect(try await bench.redemption().token(for: code, keyHMAC: nil) == nil)
  }

  @Test("A code is good in its last second and no more in the next; one never issued is not good")
  func expiry() async throws {
    let early = try await bench.code()
    let late = try await bench.code()
    bench.clock.advance(VerificationBench.lifetime)
    #expect(try await bench.redemption().token(for: early, keyHMAC: nil) != nil)
    bench.clock.advance(1)
    #expect(try await bench.redemption().token(for: late, keyHMAC: nil) == nil)
    let unknown = VerificationCode.drawn(from: SystemRandomness())
    #expect(try await bench.redemption().token(for: unknown, keyHMAC: nil) == nil)
  }

  @Test("2.11, 5.10 D10 Of fifty askers with one code and fifty HMACs exactly one gets a token")
  func fiftyHMACs() async throws {
    let code = try await bench.code()
    let tokens = try await ask(50, code) { Data(repeating: UInt8($0), count: 32) }
    #expect(tokens.compactMap { $0 }.count == 1)
  }

  @Test("Fifty askers with one code and one HMAC all get the same token")
  func fiftyAlike() async throws {
    let code = try await bench.code()
    let tokens = try await ask(50, code) { _ in Data(repeating: 1, count: 32) }
    #expect(tokens.allSatisfy { $0 != nil })
    #expect(Set(tokens).count == 1)
  }

  @Test("Two tokens never have the same name")
  func tokenIDs() async throws {
    var names: Set<String> = []
    for _ in 0..<50 {
      let token = try await bench.redemption().token(for: try await bench.code(), keyHMAC: nil)
      names.insert(try await bench.grant(of: try #require(token)).tokenID)
    }
    #expect(names.count == 50)
  }

  @Test("Where signing fails nothing is spent, and the next asker gets the token")
  func signingFails() async throws {
    let code = try await bench.code()
    await #expect(throws: VerificationServerError.signingUnavailable) {
      try await bench.redemption(signing: BrokenSigner()).token(
        for: code, keyHMAC: Self.hmacs[1])
    }
    #expect(try await bench.redemption().token(for: code, keyHMAC: Self.hmacs[2]) != nil)
  }

  @Test("Under another secret no code is known and no kept token opens")
  func otherSecret() async throws {
    let code = try await bench.code()
    let token = try await bench.redemption().token(for: code, keyHMAC: nil)
    let others = try VerificationBench.keys(8)
    #expect(try await bench.redemption(keys: others).token(for: code, keyHMAC: nil) == nil)

    let live = try await bench.storage.liveCode(bench.keys.hash(of: code), at: bench.clock.now)
    let sealed = try #require(live?.redemption?.sealedToken)
    #expect(try sealed.text(for: code, keys: bench.keys) == token)
    #expect(throws: (any Error).self) { try sealed.text(for: code, keys: others) }
    let another = VerificationCode.drawn(from: SystemRandomness())
    #expect(throws: (any Error).self) { try sealed.text(for: another, keys: bench.keys) }
  }

  @Test("2.11, 5.10 D12 Neither code nor token nor HMAC lies readable in the database or its log")
  func atRest() async throws {
    let code = try await bench.code()
    let hmac = Data(SystemRandomness().bytes(32))
    let answer = try await bench.redemption().token(for: code, keyHMAC: hmac)
    let token = try #require(answer)
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
    #expect(hashFound, "the search finds what is there")
  }

  private func ask(
    _ count: Int, _ code: VerificationCode, keyHMAC: (Int) -> Data
  ) async throws -> [String?] {
    let redemption = bench.redemption()
    return try await withThrowingTaskGroup(of: String?.self) { group in
      for index in 0..<count {
        let hmac = keyHMAC(index)
        group.addTask { try await redemption.token(for: code, keyHMAC: hmac) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  private struct BrokenSigner: TokenSigning {
    func token(for grant: UploadGrant) async throws -> String { throw CancellationError() }
  }
}
