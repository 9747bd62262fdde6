import Foundation
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// What every storage must do for Google's contract. Documentation/VerificationServer.md 9.1.
@Suite struct GoogleStorageSuite {
  typealias Implementation = StorageImplementation

  static let now = HandClock.start
  static let handle = UUID(mark: Data(repeating: 1, count: 16))

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  static func linked(_ number: Int, handle: UUID? = Self.handle) -> IssuedCode {
    var code = CodeStorageSuite.code(number)
    code.longHash = CodeStorageSuite.code(number + 1_000).hash
    code.longExpiresAt = now + 600
    code.handle = handle
    code.issuer = ApiKeyID(text: "a")
    return code
  }

  @Test("Both spellings are one code, each with its own end", arguments: Implementation.allCases)
  func spellings(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    let code = Self.linked(1)
    #expect(try await storage.issue(code, at: Self.now) == .kept)
    let long = try #require(code.longHash)
    #expect(try await storage.liveCount(at: Self.now, atMost: 10) == 2)
    #expect(try await storage.liveCount(at: Self.now, atMost: 1) == 1)
    #expect(try await storage.liveCode(code.hash, at: Self.now + 61) == nil)
    #expect(try await storage.liveCode(long, at: Self.now + 600) != nil)
    let first = CodeStorageSuite.redemption(1)
    #expect(try await storage.redeem(long, as: first, at: Self.now + 61) == first)
    #expect(try await storage.code(code.hash)?.redemption == first)
    let second = CodeStorageSuite.redemption(2)
    #expect(try await storage.redeem(code.hash, as: second, at: Self.now) == first)
  }

  @Test(
    "A handle is given once, and a batch is kept as far as it can be",
    arguments: Implementation.allCases)
  func handles(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    let codes = [
      Self.linked(1), Self.linked(2), Self.linked(1, handle: nil), CodeStorageSuite.code(3),
      CodeStorageSuite.code(1_001),
    ]
    let outcomes = try await storage.issue(codes, at: Self.now)
    #expect(outcomes == [.kept, .handleTaken, .codeTaken, .kept, .codeTaken])
  }

  @Test(
    "What became of a code can be asked, and it can be ended and taken back",
    arguments: Implementation.allCases)
  func fate(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    #expect(try await storage.fate(Self.handle) == nil)
    #expect(try await storage.expire(Self.handle, at: Self.now) == nil)
    let code = Self.linked(1)
    _ = try await storage.issue(code, at: Self.now)
    var fate = CodeFate(
      isClaimed: false, expiresAt: Self.now + 60, longExpiresAt: Self.now + 600,
      issuer: ApiKeyID(text: "a"))
    #expect(try await storage.fate(Self.handle) == fate)
    fate.expiresAt = Self.now + 60
    fate.longExpiresAt = Self.now + 99
    #expect(try await storage.expire(Self.handle, at: Self.now + 100) == fate)
    let long = try #require(code.longHash)
    #expect(try await storage.liveCode(long, at: Self.now + 100) == nil)
    try await storage.withdraw(Self.handle)
    #expect(try await storage.code(code.hash) == nil)
    #expect(try await storage.fate(Self.handle) == nil)
    #expect(try await storage.issue(code, at: Self.now) == .kept)
  }

  @Test("Of many exchanges of one token the first holds", arguments: Implementation.allCases)
  func exchange(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    let held = try await withThrowingTaskGroup(of: TokenExchange.self) { group in
      for index in 0..<50 {
        group.addTask {
          try await storage.exchange(
            TokenExchange(
              tokenMark: Data([1]), binding: Data([UInt8(index)]), expiresAt: Self.now + 60))
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(held.count == 1)
    #expect(try await storage.removeExpired(at: Self.now + 60, atMost: 5) == 0)
    #expect(try await storage.removeExpired(at: Self.now + 61, atMost: 5) == 1)
  }

  @Test("A spent token shows on its code", arguments: Implementation.allCases)
  func exchanged(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    let code = CodeStorageSuite.code(1)
    _ = try await storage.issue(code, at: Self.now)
    var redemption = CodeStorageSuite.redemption(1)
    redemption.tokenMark = Data([7])
    _ = try await storage.redeem(code.hash, as: redemption, at: Self.now)
    #expect(try await storage.code(code.hash)?.isExchanged == false)
    _ = try await storage.exchange(
      TokenExchange(tokenMark: Data([7]), binding: Data(), expiresAt: Self.now + 60))
    #expect(try await storage.code(code.hash)?.isExchanged == true)
  }

  @Test(
    "API keys are found by their id, listed by age, and revoked once",
    arguments: Implementation.allCases)
  func apiKeys(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    var keys = (0..<3).map { number in
      ApiKeyRecord(
        id: ApiKeyID(text: "\(9 - number)"), kind: .device, name: "n", mark: Data([1]),
        createdAt: Self.now + Double(number))
    }
    for key in keys.reversed() { try await storage.add(key) }
    #expect(try await storage.apiKeys() == keys)
    #expect(try await storage.revokeApiKey(keys[1].id, at: Self.now + 5))
    #expect(try await storage.revokeApiKey(keys[1].id, at: Self.now + 6))
    keys[1].revokedAt = Self.now + 5
    #expect(try await storage.apiKey(keys[1].id) == keys[1])
    #expect(try await storage.apiKey(ApiKeyID(text: "x")) == nil)
    #expect(try await storage.revokeApiKey(ApiKeyID(text: "x"), at: Self.now) == false)
  }
}
