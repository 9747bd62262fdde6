import Foundation
import TestSupport
import Testing
import VerificationAPI
import World

@testable import VerificationServer

/// What every storage must do. Documentation/VerificationServer.md 9.1.
@Suite struct CodeStorageSuite {
  typealias Implementation = StorageImplementation

  static let now = HandClock.start
  static let first = redemption(1)

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  static func redemption(_ byte: UInt8) -> Redemption {
    Redemption(
      binding: Data(repeating: byte, count: 32), sealedToken: SealedToken(bytes: Data([byte])))
  }

  static func code(_ number: Int, expiresIn seconds: TimeInterval = 60) -> IssuedCode {
    let name = Data(withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) })
    return IssuedCode(
      hash: CodeHash(bytes: name),
      finding: Finding(testType: .confirmed, symptomDay: CalendarDay(number: 20_833)),
      expiresAt: now + seconds)
  }

  @Test("What was issued is live through its last second", arguments: Implementation.allCases)
  func issue(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    let code = Self.code(1)
    #expect(try await storage.issue(code, at: Self.now) == .kept)
    for (seconds, isLive) in [(0.0, true), (59, true), (60, true), (60.9, true), (61, false)] {
      let live = try await storage.liveCode(code.hash, at: Self.now + seconds)
      #expect((live != nil) == isLive)
    }
    let live = try await storage.liveCode(code.hash, at: Self.now)
    #expect(live == LiveCode(finding: code.finding, expiresAt: code.expiresAt))
    #expect(try await storage.liveCode(Self.code(2).hash, at: Self.now) == nil)
  }

  @Test("A live hash is not issued twice, an expired one is", arguments: Implementation.allCases)
  func unique(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    #expect(try await storage.issue(Self.code(1), at: Self.now) == .kept)
    _ = try await storage.redeem(Self.code(1).hash, as: Self.first, at: Self.now)
    #expect(try await storage.issue(Self.code(1), at: Self.now + 60) == .codeTaken)
    let later = Self.code(1, expiresIn: 120)
    #expect(try await storage.issue(later, at: Self.now + 61) == .kept)
    let live = try await storage.liveCode(later.hash, at: Self.now + 61)
    #expect(live == LiveCode(finding: later.finding, expiresAt: later.expiresAt))
  }

  @Test("The first redemption holds, whoever comes after", arguments: Implementation.allCases)
  func redeem(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    let code = Self.code(1)
    _ = try await storage.issue(code, at: Self.now)
    #expect(try await storage.redeem(code.hash, as: Self.first, at: Self.now) == Self.first)
    let second = Self.redemption(2)
    #expect(try await storage.redeem(code.hash, as: second, at: Self.now) == Self.first)
    #expect(try await storage.liveCode(code.hash, at: Self.now)?.redemption == Self.first)
    #expect(try await storage.redeem(code.hash, as: second, at: Self.now + 61) == nil)
    #expect(try await storage.redeem(Self.code(2).hash, as: second, at: Self.now) == nil)
  }

  @Test("Of many redemptions at once all see the same one", arguments: Implementation.allCases)
  func redeemAtOnce(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    let code = Self.code(1)
    _ = try await storage.issue(code, at: Self.now)
    let held = try await withThrowingTaskGroup(of: Redemption?.self) { group in
      for index in 0..<50 {
        group.addTask {
          try await storage.redeem(
            code.hash, as: Self.redemption(UInt8(index)), at: Self.now)
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(held.count == 1)
    #expect(!held.contains(nil))
  }

  @Test(
    "As many expired codes go as were asked for, and no live one",
    arguments: Implementation.allCases)
  func removeExpired(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    for number in 0..<5 { _ = try await storage.issue(Self.code(number), at: Self.now) }
    _ = try await storage.issue(Self.code(9, expiresIn: 120), at: Self.now)
    #expect(try await storage.removeExpired(at: Self.now + 60, atMost: 3) == 0)
    #expect(try await storage.removeExpired(at: Self.now + 61, atMost: 3) == 3)
    #expect(try await storage.removeExpired(at: Self.now + 61, atMost: 3) == 2)
    #expect(try await storage.removeExpired(at: Self.now + 61, atMost: 3) == 0)
    #expect(try await storage.liveCode(Self.code(9).hash, at: Self.now + 61) != nil)
  }

  @Test("What was kept is there after opening it again", arguments: Implementation.allCases)
  func reopened(implementation: Implementation) async throws {
    let code = Self.code(1)
    let open = implementation.database(in: folder)
    let before = try open()
    _ = try await before.issue(code, at: Self.now)
    _ = try await before.redeem(code.hash, as: Self.first, at: Self.now)
    let after = try open()
    #expect(try await after.liveCode(code.hash, at: Self.now)?.redemption == Self.first)
  }

  @Test("The database file is for its owner's eyes only")
  func permissions() throws {
    _ = try SQLiteCodeStorage(file: folder.path("verification.sqlite"))
    for file in folder.files() {
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test("A file that is no database is refused and says what to do")
  func noDatabase() throws {
    let file = folder.path("verification.sqlite")
    try Data(repeating: 0x5A, count: 8192).write(to: file)
    #expect(throws: VerificationServerError.storageUnavailable) {
      try SQLiteCodeStorage(file: file)
    }
  }
}
