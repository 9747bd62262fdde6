import Foundation
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// What every storage must do for reports of persons and for codes that end.
/// Documentation/VerificationServer.md 3.7 and 3.8.
@Suite struct PhoneReportSuite {
  typealias Implementation = StorageImplementation

  static let now = HandClock.start
  static let phone = Data([9])

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  static func report(_ number: Int, handle: UUID? = nil) -> IssuedCode {
    var code = CodeStorageSuite.code(number, expiresIn: 900)
    (code.phoneMark, code.handle) = (phone, handle)
    return code
  }

  @Test(
    "A phone that reported waits an hour, and 30 days once its code was used, to the second",
    arguments: Implementation.allCases)
  func waits(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    #expect(try await storage.issue(Self.report(1), at: Self.now) == .kept)
    #expect(try await storage.issue(Self.report(2), at: Self.now + 3_599) == .phoneBusy)
    #expect(try await storage.liveCode(Self.report(2).hash, at: Self.now + 3_599) == nil)
    let second = Self.now + 3_600
    var code = Self.report(3)
    code.expiresAt = second + 900
    #expect(try await storage.issue(code, at: second) == .kept)
    let used = CodeStorageSuite.redemption(1)
    #expect(try await storage.redeem(code.hash, as: used, at: second + 60) == used)
    let days: TimeInterval = 30 * 86_400
    #expect(try await storage.issue(Self.report(4), at: second + days - 1) == .phoneBusy)
    #expect(try await storage.issue(Self.report(4), at: second + days) == .kept)
  }

  @Test(
    "A code that is refused leaves its phone free, one that is taken back frees it",
    arguments: Implementation.allCases)
  func free(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    _ = try await storage.issue(CodeStorageSuite.code(1), at: Self.now)
    #expect(try await storage.issue(Self.report(1), at: Self.now) == .codeTaken)
    let handle = GoogleStorageSuite.handle
    #expect(try await storage.issue(Self.report(2, handle: handle), at: Self.now) == .kept)
    #expect(try await storage.issue(Self.report(3), at: Self.now) == .phoneBusy)
    try await storage.withdraw(handle)
    #expect(try await storage.issue(Self.report(3), at: Self.now) == .kept)
  }

  @Test(
    "Reports that no longer matter go, others stay", arguments: Implementation.allCases)
  func removed(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    _ = try await storage.issue(Self.report(1), at: Self.now)
    // The code itself ended before.
    #expect(try await storage.removeExpired(at: Self.now + 3_600, atMost: 5) == 1)
    #expect(try await storage.removeExpired(at: Self.now + 3_601, atMost: 5) == 1)
    #expect(try await storage.removeExpired(at: Self.now + 3_601, atMost: 5) == 0)
  }

  @Test(
    "A code carries what was found and the nonce that belongs to it",
    arguments: Implementation.allCases)
  func carried(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    for (number, testType) in TestType.allCases.enumerated() {
      var code = CodeStorageSuite.code(number)
      code.finding = Finding(
        testType: testType, symptomDay: number == 1 ? nil : CalendarDay(number: 20_000 + number),
        testDay: number == 2 ? nil : CalendarDay(number: 20_100 + number))
      code.nonceMark = number == 0 ? nil : Data([UInt8(number)])
      _ = try await storage.issue(code, at: Self.now)
      #expect(
        try await storage.code(code.hash)
          == LiveCode(
            finding: code.finding, nonceMark: code.nonceMark, expiresAt: code.expiresAt))
    }
  }

  @Test(
    "A code ends once: what was ended is used by nobody, and ending it later lengthens nothing",
    arguments: Implementation.allCases)
  func ended(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    let code = GoogleStorageSuite.linked(1)
    _ = try await storage.issue(code, at: Self.now)
    let fate = try await storage.expire(GoogleStorageSuite.handle, at: Self.now + 10)
    #expect(fate?.expiresAt == Self.now + 9 && fate?.longExpiresAt == Self.now + 9)
    #expect(try await storage.expire(GoogleStorageSuite.handle, at: Self.now + 20) == fate)
    #expect(try await storage.liveCount(at: Self.now + 10, atMost: 5) == 0)
    #expect(try await storage.liveCount(at: Self.now + 9, atMost: 5) == 2)
    let used = CodeStorageSuite.redemption(1)
    for hash in [code.hash, try #require(code.longHash)] {
      #expect(try await storage.redeem(hash, as: used, at: Self.now + 10) == nil)
    }
    #expect(try await storage.fate(GoogleStorageSuite.handle)?.isClaimed == false)
  }

  @Test(
    "A code is remembered until both of its spellings have ended, and known to be used",
    arguments: Implementation.allCases)
  func remembered(implementation: Implementation) async throws {
    let storage = try implementation.open(in: folder)
    let code = GoogleStorageSuite.linked(1)
    _ = try await storage.issue(code, at: Self.now)
    let used = CodeStorageSuite.redemption(1)
    _ = try await storage.redeem(code.hash, as: used, at: Self.now)
    #expect(try await storage.fate(GoogleStorageSuite.handle)?.isClaimed == true)
    #expect(try await storage.removeExpired(at: Self.now + 600, atMost: 5) == 0)
    #expect(try await storage.code(code.hash)?.redemption == used)
    #expect(try await storage.removeExpired(at: Self.now + 601, atMost: 5) == 1)
    #expect(try await storage.code(code.hash) == nil)
    let long = try #require(code.longHash)
    #expect(try await storage.code(long) == nil)
  }
}
