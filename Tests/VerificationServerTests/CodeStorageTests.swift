// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage
import TestSupport
import Testing
import VerificationAPI
import World

@testable import VerificationServer

/// The contract of `CodeStorage`, for every implementation.
@Suite struct CodeStorageTests {
  typealias Implementation = StorageImplementation

  static let now = VerificationBench.start
  static let first = redemption(1)

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  static let form = CodeForm(.pin, 6)

  static func redemption(_ byte: UInt8) -> Redemption {
    Redemption(
      binding: Data(repeating: byte, count: 32), sealedToken: SealedToken(bytes: Data([byte])))
  }

  static func code(_ number: Int, expiresIn seconds: TimeInterval = 60) -> HashedCode {
    let name = Data(withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) })
    return HashedCode(
      hash: CodeHash(bytes: name),
      testResult: TestResult(testType: .confirmed, symptomDay: CalendarDay(number: 20_833)),
      expiresAt: now + seconds)
  }

  @Test("An issued code is live through its last second", arguments: Implementation.allCases)
  func issue(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let code = Self.code(1)
    #expect(try await storage.issue(code, at: Self.now) == .stored)
    for (seconds, isLive) in [(0.0, true), (59, true), (60, true), (60.9, true), (61, false)] {
      let live = try await storage.liveCode(code.hash, at: Self.now + seconds)
      #expect((live != nil) == isLive)
    }
    let live = try await storage.liveCode(code.hash, at: Self.now)
    #expect(live == StoredCode(testResult: code.testResult, expiresAt: code.expiresAt))
    #expect(try await storage.liveCode(Self.code(2).hash, at: Self.now) == nil)
  }

  @Test(
    "The hash of a live code cannot be issued again; that of an expired code can",
    arguments: Implementation.allCases)
  func unique(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    #expect(try await storage.issue(Self.code(1), at: Self.now) == .stored)
    _ = try await storage.redeem(Self.code(1).hash, as: Self.first, at: Self.now)
    #expect(try await storage.issue(Self.code(1), at: Self.now + 60) == .codeTaken)
    let later = Self.code(1, expiresIn: 120)
    #expect(try await storage.issue(later, at: Self.now + 61) == .stored)
    let live = try await storage.liveCode(later.hash, at: Self.now + 61)
    #expect(live == StoredCode(testResult: later.testResult, expiresAt: later.expiresAt))
  }

  @Test("The first redemption of a code is permanent", arguments: Implementation.allCases)
  func redeem(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let code = Self.code(1)
    _ = try await storage.issue(code, at: Self.now)
    #expect(try await storage.redeem(code.hash, as: Self.first, at: Self.now) == Self.first)
    let second = Self.redemption(2)
    #expect(try await storage.redeem(code.hash, as: second, at: Self.now) == Self.first)
    #expect(try await storage.liveCode(code.hash, at: Self.now)?.redemption == Self.first)
    #expect(try await storage.redeem(code.hash, as: second, at: Self.now + 61) == nil)
    #expect(try await storage.redeem(Self.code(2).hash, as: second, at: Self.now) == nil)
  }

  @Test(
    "Concurrent redemptions of a code all return the same one", arguments: Implementation.allCases)
  func redeemAtOnce(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let code = Self.code(1)
    _ = try await storage.issue(code, at: Self.now)
    let results = try await withThrowingTaskGroup(of: Redemption?.self) { group in
      for index in 0..<50 {
        group.addTask {
          try await storage.redeem(
            code.hash, as: Self.redemption(UInt8(index)), at: Self.now)
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(results.count == 1)
    #expect(!results.contains(nil))
  }

  @Test(
    "Removal deletes at most the requested number of expired codes, and no live code",
    arguments: Implementation.allCases)
  func removeExpired(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    for number in 0..<5 { _ = try await storage.issue(Self.code(number), at: Self.now) }
    _ = try await storage.issue(Self.code(9, expiresIn: 120), at: Self.now)
    #expect(try await storage.removeExpired(at: Self.now + 60, atMost: 3) == 0)
    #expect(try await storage.removeExpired(at: Self.now + 61, atMost: 3) == 3)
    #expect(try await storage.removeExpired(at: Self.now + 61, atMost: 3) == 2)
    #expect(try await storage.removeExpired(at: Self.now + 61, atMost: 3) == 0)
    #expect(try await storage.liveCode(Self.code(9).hash, at: Self.now + 61) != nil)
  }

  @Test("Codes and redemptions are still there after reopening", arguments: Implementation.allCases)
  func reopened(implementation: Implementation) async throws {
    let code = Self.code(1)
    let open = try await implementation.database(in: folder)
    let before = try open()
    _ = try await before.issue(code, at: Self.now)
    _ = try await before.redeem(code.hash, as: Self.first, at: Self.now)
    let after = try open()
    #expect(try await after.liveCode(code.hash, at: Self.now)?.redemption == Self.first)
  }

  @Test("Only the owner may read the database files")
  func permissions() throws {
    _ = try SQLiteCodeStorage(file: folder.path("verification.sqlite"))
    for file in folder.files() {
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test("A file that is not a database is rejected as damaged")
  func noDatabase() throws {
    let file = folder.path("verification.sqlite")
    try Data(repeating: 0x5A, count: 8192).write(to: file)
    #expect(throws: VerificationServerError.damagedDatabase) {
      try SQLiteCodeStorage(file: file)
    }
  }

  @Test("The database uses a log that is synced at each commit, and overwrites deleted rows")
  func settings() throws {
    let file = folder.path("verification.sqlite")
    // The second time the file exists and has a log.
    for _ in 0..<2 {
      let pool = try SQLiteCodeStorage(file: file).database.pool
      let settings = try pool.writeWithoutTransaction { database in
        try ["journal_mode", "synchronous", "secure_delete", "foreign_keys", "busy_timeout"].map {
          try String.fetchOne(database, sql: "PRAGMA \($0)")
        }
      }
      #expect(settings == ["wal", "2", "1", "1", "5000"])
      try pool.close()
    }
  }

  static let handle = UUID(hash: Data(repeating: 1, count: 16))

  static func linked(_ number: Int, handle: UUID? = Self.handle) -> HashedCode {
    var code = Self.code(number)
    code.longHash = Self.code(number + 1_000).hash
    code.longExpiresAt = now + 600
    code.handle = handle
    code.issuer = APIKeyID(text: "a")
    return code
  }

  @Test(
    "Short and long form are one code, and each has its own expiry",
    arguments: Implementation.allCases)
  func forms(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let code = Self.linked(1)
    #expect(try await storage.issue(code, at: Self.now) == .stored)
    let long = try #require(code.longHash)
    #expect(try await storage.liveCount(of: Self.form, at: Self.now, atMost: 10) == 1)
    #expect(try await storage.liveCount(of: CodeForm(.short, 8), at: Self.now, atMost: 1) == 0)
    let lifetime = code.expiresAt.timeIntervalSince(Self.now)
    #expect(try await storage.longestLifetime(of: Self.form, at: Self.now + 1) == lifetime)
    #expect(try await storage.longestLifetime(of: CodeForm(.short, 8), at: Self.now) == 0)
    #expect(try await storage.longestLifetime(of: Self.form, at: code.expiresAt + 1) == 0)
    #expect(try await storage.liveCode(code.hash, at: Self.now + 61) == nil)
    #expect(try await storage.liveCode(long, at: Self.now + 600) != nil)
    let first = Self.redemption(1)
    #expect(try await storage.redeem(long, as: first, at: Self.now + 61) == first)
    #expect(try await storage.code(code.hash)?.redemption == first)
    let second = Self.redemption(2)
    #expect(try await storage.redeem(code.hash, as: second, at: Self.now) == first)
  }

  @Test(
    "A handle is issued once, and the valid codes of a batch are stored",
    arguments: Implementation.allCases)
  func handles(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let codes = [
      Self.linked(1), Self.linked(2), Self.linked(1, handle: nil), Self.code(3),
      Self.code(1_001),
    ]
    let outcomes = try await storage.issue(codes, at: Self.now)
    #expect(outcomes == [.stored, .handleTaken, .codeTaken, .stored, .codeTaken])
  }

  @Test(
    "The status of a code can be read, and a code can be ended and withdrawn",
    arguments: Implementation.allCases)
  func status(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    #expect(try await storage.status(of: Self.handle) == nil)
    #expect(try await storage.expire(Self.handle, at: Self.now) == nil)
    let code = Self.linked(1)
    _ = try await storage.issue(code, at: Self.now)
    var status = CodeStatus(
      isClaimed: false, expiresAt: Self.now + 60, longExpiresAt: Self.now + 600,
      issuer: APIKeyID(text: "a"))
    #expect(try await storage.status(of: Self.handle) == status)
    status.expiresAt = Self.now + 60
    status.longExpiresAt = Self.now + 99
    #expect(try await storage.expire(Self.handle, at: Self.now + 100) == status)
    let long = try #require(code.longHash)
    #expect(try await storage.liveCode(long, at: Self.now + 100) == nil)
    try await storage.withdraw(Self.handle, externalIssuer: nil)
    #expect(try await storage.code(code.hash) == nil)
    #expect(try await storage.status(of: Self.handle) == nil)
    #expect(try await storage.issue(code, at: Self.now) == .stored)
  }

  @Test(
    "Of concurrent exchanges of one token the first is permanent",
    arguments: Implementation.allCases)
  func exchange(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let results = try await withThrowingTaskGroup(of: TokenExchange?.self) { group in
      for index in 0..<50 {
        group.addTask {
          try await storage.exchange(
            TokenExchange(
              tokenIDHash: Data([1]), binding: Data([UInt8(index)]), expiresAt: Self.now + 60),
            at: Self.now)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    // The first one finds none, and the others find that one.
    #expect(results.count { $0 == nil } == 1 && Set(results.compactMap(\.self)).count == 1)
    #expect(try await storage.removeExpired(at: Self.now + 60, atMost: 5) == 0)
    #expect(try await storage.removeExpired(at: Self.now + 61, atMost: 5) == 1)
  }

  @Test("A code shows that its token was exchanged", arguments: Implementation.allCases)
  func exchanged(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let code = Self.code(1)
    _ = try await storage.issue(code, at: Self.now)
    var redemption = Self.redemption(1)
    redemption.tokenIDHash = Data([7])
    _ = try await storage.redeem(code.hash, as: redemption, at: Self.now)
    #expect(try await storage.code(code.hash)?.isExchanged == false)
    _ = try await storage.exchange(
      TokenExchange(tokenIDHash: Data([7]), binding: Data(), expiresAt: Self.now + 60), at: Self.now
    )
    #expect(try await storage.code(code.hash)?.isExchanged == true)
  }

  @Test(
    "Codes are counted by the day of their issue, their use and their exchange, each once",
    arguments: Implementation.allCases)
  func counts(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let day = Self.now.unixSecond / 86_400
    let midnight = Date(unixSecond: (day + 1) * 86_400)
    var withdrawn = Self.code(3)
    withdrawn.handle = UUID()
    for code in [Self.code(1, expiresIn: 90_000), Self.code(2, expiresIn: 90_000), withdrawn] {
      _ = try await storage.issue(code, at: Self.now)
    }
    #expect(try await storage.issue(Self.code(1), at: Self.now) == .codeTaken)
    try await storage.withdraw(try #require(withdrawn.handle), externalIssuer: nil)
    for _ in 0..<2 {
      _ = try await storage.redeem(Self.code(1).hash, as: Self.first, at: Self.now + 61)
      _ = try await storage.redeem(Self.code(2).hash, as: Self.first, at: midnight)
      _ = try await storage.exchange(
        TokenExchange(tokenIDHash: Data([7]), binding: Data(), expiresAt: midnight + 60),
        at: midnight)
    }
    #expect(try await storage.redeem(Self.code(9).hash, as: Self.first, at: Self.now) == nil)
    var (today, tomorrow) = (CodeCounts(day: day), CodeCounts(day: day + 1))
    today.countIssued(2)
    today.countClaimed(after: 61)
    tomorrow.countClaimed(after: midnight.unixSecond - Self.now.unixSecond)
    tomorrow.countTokenClaimed()
    #expect(today.claimAges == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    #expect(try await storage.counts() == [tomorrow, today])
    let kept = TimeInterval(VerificationLimit.countedDays * 86_400)
    _ = try await storage.removeExpired(at: midnight + kept - 1, atMost: 9)
    #expect(try await storage.counts().count == 2)
    _ = try await storage.removeExpired(at: midnight + kept, atMost: 9)
    #expect(try await storage.counts() == [tomorrow])
  }

  @Test(
    "API keys are found by ID, listed by age, and revoked once",
    arguments: Implementation.allCases)
  func apiKeys(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    var keys = (0..<3).map { number in
      APIKeyRecord(
        id: APIKeyID(text: "\(9 - number)"), kind: .device, name: "n", hash: Data([1]),
        createdAt: Self.now + Double(number))
    }
    for key in keys.reversed() { try await storage.add(key) }
    #expect(try await storage.apiKeys() == keys)
    #expect(try await storage.revokeAPIKey(keys[1].id, at: Self.now + 5))
    #expect(try await storage.revokeAPIKey(keys[1].id, at: Self.now + 6))
    keys[1].revokedAt = Self.now + 5
    #expect(try await storage.apiKey(keys[1].id) == keys[1])
    #expect(try await storage.apiKey(APIKeyID(text: "x")) == nil)
    #expect(try await storage.revokeAPIKey(APIKeyID(text: "x"), at: Self.now) == false)
  }

  @Test(
    "The live codes of one issuer end together; redeemed, expired and other codes stay as they are",
    arguments: Implementation.allCases)
  func expireCodes(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let (one, other) = (APIKeyID(text: "1"), APIKeyID(text: "2"))
    var codes = (1...5).map { Self.linked($0, handle: UUID()) }
    for (index, issuer) in [one, one, one, other, nil].enumerated() { codes[index].issuer = issuer }
    for code in codes { #expect(try await storage.issue(code, at: Self.now) == .stored) }
    _ = try await storage.redeem(codes[0].hash, as: Self.first, at: Self.now)
    for expected in [2, 0] {
      #expect(try await storage.expireCodes(of: one, at: Self.now + 1) == expected)
    }
    for (index, isLive) in [true, false, false, true, true].enumerated() {
      for hash in [codes[index].hash, codes[index].longHash].compactMap(\.self) {
        let live = try await storage.liveCode(hash, at: Self.now + 1)
        #expect((live != nil) == isLive, "\(index)")
      }
    }
    #expect(try await storage.expireCodes(of: nil, at: Self.now + 1) == 1)
    #expect(try await storage.liveCounts(at: Self.now + 1) == [other: 1])
  }

  @Test(
    "The live codes of an API key are counted until they are redeemed, ended or expired",
    arguments: Implementation.allCases)
  func liveCounts(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let (one, other) = (APIKeyID(text: "1"), APIKeyID(text: "2"))
    var codes = (1...5).map { Self.linked($0, handle: UUID()) }
    for index in codes.indices { codes[index].issuer = index < 4 ? one : other }
    _ = try await storage.issue(codes + [Self.code(9)], at: Self.now)
    #expect(try await storage.liveCounts(at: Self.now) == [one: 4, other: 1])
    _ = try await storage.redeem(codes[0].hash, as: Self.first, at: Self.now)
    #expect(try await storage.liveCounts(at: Self.now) == [one: 3, other: 1])
    let handle = try #require(codes[1].handle)
    _ = try await storage.expire(handle, at: Self.now)
    #expect(try await storage.liveCounts(at: Self.now) == [one: 2, other: 1])
    // The long codes are valid for longer than the short ones.
    let last = try #require(codes.map(\.longExpiresAt).max())
    #expect(try await storage.liveCounts(at: last) == [one: 2, other: 1])
    #expect(try await storage.liveCounts(at: last + 1) == [:])
  }

  @Test(
    "A later step of the schema keeps codes and API keys, and an older server refuses the result")
  func laterStep() async throws {
    let file = folder.path("verification.sqlite")
    let storage = try SQLiteCodeStorage(file: file)
    _ = try await storage.issue(Self.code(1), at: Self.now)
    let key = APIKeyRecord(
      id: APIKeyID(text: "a"), kind: .admin, name: "n", hash: Data([1]), createdAt: Self.now)
    try await storage.add(key)
    try storage.database.close()
    var schema = SQLiteCodeStorage.schema
    schema.migrations.registerMigration("schema 99") { database in
      try database.alter(table: "issue") { $0.add(column: "note", .text) }
    }
    let reopened = try SQLiteCodeStorage(file: file, schema: schema)
    #expect(
      try await reopened.code(Self.code(1).hash)?.testResult == Self.code(1).testResult)
    #expect(try await reopened.apiKeys() == [key])
    #expect(try await reopened.issue(Self.code(1), at: Self.now) == .codeTaken)
    #expect(throws: VerificationServerError.newerDatabase) { try SQLiteCodeStorage(file: file) }
  }
}
