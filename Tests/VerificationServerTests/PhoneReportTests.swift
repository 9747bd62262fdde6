// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import VerificationAPI

@testable import VerificationServer

/// The contract of `CodeStorage` for user reports and ended codes, for every implementation.
@Suite struct PhoneReportTests {
  typealias Implementation = StorageImplementation

  static let now = VerificationBench.start
  static let phone = Data([9])

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  static func report(_ number: Int, handle: UUID? = nil) -> HashedCode {
    var code = CodeStorageTests.code(number, expiresIn: 900)
    (code.phoneHash, code.handle) = (phone, handle)
    return code
  }

  @Test(
    "After a report a phone waits an hour, and 30 days if its code was used, to the second",
    arguments: Implementation.allCases)
  func waits(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    #expect(try await storage.issue(Self.report(1), at: Self.now) == .stored)
    #expect(try await storage.issue(Self.report(2), at: Self.now + 3_599) == .phoneBusy)
    #expect(try await storage.liveCode(Self.report(2).hash, at: Self.now + 3_599) == nil)
    let second = Self.now + 3_600
    var code = Self.report(3)
    code.expiresAt = second + 900
    #expect(try await storage.issue(code, at: second) == .stored)
    let used = CodeStorageTests.redemption(1)
    #expect(try await storage.redeem(code.hash, as: used, at: second + 60) == used)
    let days: TimeInterval = 30 * 86_400
    #expect(try await storage.issue(Self.report(4), at: second + days - 1) == .phoneBusy)
    #expect(try await storage.issue(Self.report(4), at: second + days) == .stored)
  }

  @Test(
    "A rejected code does not block its phone, and withdrawing a code frees it",
    arguments: Implementation.allCases)
  func free(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    _ = try await storage.issue(CodeStorageTests.code(1), at: Self.now)
    #expect(try await storage.issue(Self.report(1), at: Self.now) == .codeTaken)
    let handle = CodeStorageTests.handle
    #expect(try await storage.issue(Self.report(2, handle: handle), at: Self.now) == .stored)
    #expect(try await storage.issue(Self.report(3), at: Self.now) == .phoneBusy)
    try await storage.withdraw(handle, externalIssuer: nil)
    #expect(try await storage.issue(Self.report(3), at: Self.now) == .stored)
  }

  @Test(
    "A freed phone may report at once, its code ends, and other phones wait as before",
    arguments: Implementation.allCases)
  func freed(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let (first, other) = (Self.report(1, handle: CodeStorageTests.handle), Self.report(2))
    var another = other
    another.phoneHash = Data([8])
    for code in [first, another] { #expect(try await storage.issue(code, at: Self.now) == .stored) }
    // A phone that has not reported, and then the phone itself, twice.
    for (phone, isFreed) in [(Data([7]), false), (Self.phone, true), (Self.phone, false)] {
      #expect(try await storage.freePhone(phone, at: Self.now + 10) == isFreed)
    }
    let status = try await storage.status(of: CodeStorageTests.handle)
    #expect(status?.expiresAt == Self.now + 9)
    let used = CodeStorageTests.redemption(1)
    #expect(try await storage.redeem(first.hash, as: used, at: Self.now + 10) == nil)
    #expect(try await storage.liveCode(another.hash, at: Self.now + 10) != nil)
    another.hash = Self.report(3).hash
    #expect(try await storage.issue(another, at: Self.now + 10) == .phoneBusy)
    let again = Self.report(4)
    #expect(try await storage.issue(again, at: Self.now + 10) == .stored)
    #expect(try await storage.issue(Self.report(5), at: Self.now + 10) == .phoneBusy)
    // A used code stays used, and its phone is freed too.
    #expect(try await storage.redeem(again.hash, as: used, at: Self.now + 20) == used)
    #expect(try await storage.issue(Self.report(5), at: Self.now + 86_400) == .phoneBusy)
    try await storage.freePhone(Self.phone, at: Self.now + 86_400)
    #expect(try await storage.issue(Self.report(5), at: Self.now + 86_400) == .stored)
  }

  @Test(
    "Reports that no longer block a phone are removed, others stay",
    arguments: Implementation.allCases)
  func removed(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    _ = try await storage.issue(Self.report(1), at: Self.now)
    // The code itself has ended before.
    #expect(try await storage.removeExpired(at: Self.now + 3_600, atMost: 5) == 1)
    #expect(try await storage.removeExpired(at: Self.now + 3_601, atMost: 5) == 1)
    #expect(try await storage.removeExpired(at: Self.now + 3_601, atMost: 5) == 0)
  }

  @Test(
    "A code has its test result and the hash of its nonce",
    arguments: Implementation.allCases)
  func carried(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    for (number, testType) in TestType.allCases.enumerated() {
      var code = CodeStorageTests.code(number)
      code.testResult = TestResult(
        testType: testType, symptomDay: number == 1 ? nil : CalendarDay(number: 20_000 + number),
        testDay: number == 2 ? nil : CalendarDay(number: 20_100 + number))
      code.nonceHash = number == 0 ? nil : Data([UInt8(number)])
      _ = try await storage.issue(code, at: Self.now)
      #expect(
        try await storage.code(code.hash)
          == StoredCode(
            testResult: code.testResult, nonceHash: code.nonceHash, expiresAt: code.expiresAt))
    }
  }

  @Test(
    "A code that was ended cannot be used, and ending it later does not extend it",
    arguments: Implementation.allCases)
  func ended(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let code = CodeStorageTests.linked(1)
    _ = try await storage.issue(code, at: Self.now)
    let status = try await storage.expire(CodeStorageTests.handle, at: Self.now + 10)
    #expect(status?.expiresAt == Self.now + 9 && status?.longExpiresAt == Self.now + 9)
    #expect(try await storage.expire(CodeStorageTests.handle, at: Self.now + 20) == status)
    let form = CodeStorageTests.form
    #expect(try await storage.liveCount(of: form, at: Self.now + 10, atMost: 5) == 0)
    #expect(try await storage.liveCount(of: form, at: Self.now + 9, atMost: 5) == 1)
    let used = CodeStorageTests.redemption(1)
    for hash in [code.hash, try #require(code.longHash)] {
      #expect(try await storage.redeem(hash, as: used, at: Self.now + 10) == nil)
    }
    #expect(try await storage.status(of: CodeStorageTests.handle)?.isClaimed == false)
  }

  @Test(
    "A code is stored until both of its forms have ended, and shows that it was used",
    arguments: Implementation.allCases)
  func remembered(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let code = CodeStorageTests.linked(1)
    _ = try await storage.issue(code, at: Self.now)
    let used = CodeStorageTests.redemption(1)
    _ = try await storage.redeem(code.hash, as: used, at: Self.now)
    #expect(try await storage.status(of: CodeStorageTests.handle)?.isClaimed == true)
    #expect(try await storage.removeExpired(at: Self.now + 600, atMost: 5) == 0)
    #expect(try await storage.code(code.hash)?.redemption == used)
    #expect(try await storage.removeExpired(at: Self.now + 601, atMost: 5) == 1)
    #expect(try await storage.code(code.hash) == nil)
    let long = try #require(code.longHash)
    #expect(try await storage.code(long) == nil)
  }
}
