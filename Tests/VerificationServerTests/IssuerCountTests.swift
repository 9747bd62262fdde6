// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage
import TestSupport
import Testing
import World

@testable import VerificationServer

/// The contract of `CodeStorage` for the numbers of codes by issuer, for every implementation.
@Suite struct IssuerCountTests {
  typealias Implementation = StorageImplementation

  private static let now = VerificationBench.start

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static func issued(
    _ number: Int, by key: String, for name: String? = nil, handle: UUID? = nil
  ) -> HashedCode {
    var code = CodeStorageTests.code(number)
    (code.issuer, code.externalIssuer, code.handle) = (APIKeyID(text: key), name, handle)
    return code
  }

  @Test(
    "Codes are counted by API key and external issuer, those of the console's key by official",
    arguments: Implementation.allCases)
  func issuers(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    for (id, name) in [("a", "a laboratory"), ("c", APIKeys.consoleName)] {
      try await storage.add(
        APIKeyRecord(
          id: APIKeyID(text: id), kind: .admin, name: name, hash: Data([1]), createdAt: Self.now,
          revokedAt: nil))
    }
    let handle = UUID()
    let codes = [
      Self.issued(1, by: "a", for: "clinic"), Self.issued(2, by: "a", for: "clinic"),
      Self.issued(3, by: "a"), Self.issued(4, by: "c", for: "Anna"),
      Self.issued(5, by: "a", for: "clinic", handle: handle), CodeStorageTests.code(6),
    ]
    for code in codes { _ = try await storage.issue(code, at: Self.now) }
    #expect(try await storage.issue(codes[0], at: Self.now) == .codeTaken)
    try await storage.withdraw(handle, externalIssuer: "clinic")
    let day = CodeCounts.day(of: Self.now.unixSecond)
    func counts(_ issuers: [(IssuerCount.Kind, String, Int)]) -> [IssuerCount] {
      issuers.map { kind, name, count in
        var counted = IssuerCount(day: day, IssuerCount.Issuer(kind: kind, name: name))
        counted.countIssued(count)
        return counted
      }
    }
    #expect(
      try await storage.issuerCounts()
        == counts([
          (.apiKey, "a", 3), (.apiKey, "c", 1), (.externalIssuer, "clinic", 2),
          (.official, "Anna", 1),
        ]))
  }

  @Test("A version that cannot read counts of user reports and SMS errors refuses the database")
  func earlierVersion() throws {
    let file = folder.path("verification.sqlite")
    try SQLiteCodeStorage(file: file).database.close()
    var earlier = SQLiteCodeStorage.schema
    earlier.migrations = DatabaseMigrator()
    for step in 1...4 { earlier.migrations.registerMigration("schema \(step)") { _ in } }
    #expect(throws: VerificationServerError.newerDatabase) {
      try SQLiteCodeStorage(file: file, schema: earlier)
    }
  }

  @Test(
    "Names with few codes are removed when their day is over, the others after the counted days",
    arguments: Implementation.allCases)
  func fewCodes(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let most = VerificationLimit.issuerCountMultiple
    for number in 1...most {
      _ = try await storage.issue(Self.issued(number, by: "a", for: "large"), at: Self.now)
    }
    for number in most + 1..<2 * most {
      _ = try await storage.issue(Self.issued(number, by: "b", for: "small"), at: Self.now)
    }
    let day = CodeCounts.day(of: Self.now.unixSecond)
    let midnight = Date(unixSecond: (day + 1) * 86_400)
    _ = try await storage.removeExpired(at: midnight - 1, atMost: 99)
    #expect(try await storage.issuerCounts().map(\.name) == ["a", "b", "large", "small"])
    _ = try await storage.removeExpired(at: midnight, atMost: 99)
    #expect(try await storage.issuerCounts().map(\.name) == ["a", "large"])
    let kept = TimeInterval(VerificationLimit.countedDays * 86_400)
    _ = try await storage.removeExpired(at: midnight + kept - 1, atMost: 99)
    #expect(try await storage.issuerCounts().count == 2)
    _ = try await storage.removeExpired(at: midnight + kept, atMost: 99)
    #expect(try await storage.issuerCounts().isEmpty)
  }

  @Test(
    "Beyond the largest number of names in a day, codes are counted by API key only",
    arguments: Implementation.allCases)
  func manyNames(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let most = VerificationLimit.countedNamesMax
    let codes = (0...most).map { Self.issued($0, by: "a", for: "issuer \($0)") }
    let batchSize = 100
    for first in stride(from: 0, to: codes.count, by: batchSize) {
      let batch = codes[first..<min(first + batchSize, codes.count)]
      _ = try await storage.issue(Array(batch), at: Self.now)
    }
    let counts = try await storage.issuerCounts()
    #expect(counts.count == most + 1)
    #expect(counts.first { $0.kind == .apiKey }?.issued == most + 1)
    #expect(!counts.contains { $0.name == "issuer \(most)" })
    // A known name is counted, and another day has names of its own.
    _ = try await storage.issue(Self.issued(most + 1, by: "a", for: "issuer 1"), at: Self.now)
    _ = try await storage.issue(
      Self.issued(most + 2, by: "a", for: "a new name"), at: Self.now + 86_400)
    let later = try await storage.issuerCounts()
    #expect(later.first { $0.name == "issuer 1" }?.issued == 2)
    #expect(later.contains { $0.name == "a new name" })
    for day in Set(later.map(\.day)).union([0]) {
      #expect(try await storage.issuerCounts(on: day) == later.filter { $0.day == day })
    }
  }
}
