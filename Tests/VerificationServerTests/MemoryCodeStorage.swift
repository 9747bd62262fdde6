// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import PostgreSQL
import ServerStorage
import Synchronization
import TestSupport
import World

@testable import VerificationServer

/// The implementations of `CodeStorage` that the tests run with.
enum StorageImplementation: CaseIterable {
  case sqlite, memory, postgresql

  /// PostgreSQL is left out if no other process may be started.
  static var allCases: [StorageImplementation] {
    [.sqlite, .memory] + (PrivatePostgreSQL.isAvailable ? [.postgresql] : [])
  }

  /// Returns a function that opens the database in `folder`; calling it again reopens the same one.
  func database(
    in folder: TemporaryFolder
  ) async throws -> @Sendable () throws -> any CodeStorage {
    switch self {
    case .sqlite:
      return { try SQLiteCodeStorage(file: folder.path("verification.sqlite")) }
    case .memory:
      let storage = MemoryCodeStorage()
      return { storage }
    case .postgresql:
      let address = try await PrivatePostgreSQL.newPatientDatabase()
      return {
        PostgreSQLCodeStorage(
          address, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      }
    }
  }

  /// Opens a new database in `folder`.
  func open(in folder: TemporaryFolder) async throws -> any CodeStorage {
    try await database(in: folder)()
  }
}

extension CodeStorage {
  /// Stores one code.
  func issue(_ code: HashedCode, at now: Date) async throws -> IssueOutcome {
    try await issue([code], at: now).first ?? .codeTaken
  }
}

/// A `CodeStorage` in memory, the reference for `SQLiteCodeStorage`.
final class MemoryCodeStorage: CodeStorage {
  /// An issued code.
  private struct Issue {
    var code: HashedCode
    /// The date after which it may be removed.
    let end: Date
    let issuedAt: Date
    var redemption: Redemption?

    var status: CodeStatus {
      CodeStatus(
        isClaimed: redemption != nil, expiresAt: code.expiresAt,
        longExpiresAt: code.longExpiresAt, issuer: code.issuer)
    }
  }

  private struct State {
    var issues: [Int: Issue] = [:]
    /// The number of the issue for each hash.
    var hashes: [CodeHash: Int] = [:]
    var exchanges: [Data: TokenExchange] = [:]
    var reports: [Data: PhoneReport] = [:]
    var apiKeys: [APIKeyRecord] = []
    var issued = 0
    var clock = ClockRecord()
    var counts: [Int64: CodeCounts] = [:]
    var attempts: [AttemptCount.Key: AttemptCount] = [:]
    var batches: Set<Data> = []
    var issuerCounts: [Int64: [IssuerCount.Issuer: IssuerCount]] = [:]

    mutating func count(at now: Date, _ change: (inout CodeCounts) -> Void) {
      let day = CodeCounts.day(of: now.unixSecond)
      change(&counts[day, default: CodeCounts(day: day)])
    }

    func isCanary(_ issuer: APIKeyID?) -> Bool {
      apiKeys.first { $0.id == issuer }?.kind == .canary
    }

    mutating func count(
      _ change: Int, issuer: APIKeyID?, externalIssuer: String?, at now: Date
    ) {
      let day = CodeCounts.day(of: now.unixSecond)
      let keyName = apiKeys.first { $0.id == issuer }?.name
      for issuer in IssuerCount.issuers(
        apiKey: issuer?.text, keyName: keyName, externalIssuer: externalIssuer)
      {
        let known = issuerCounts[day, default: [:]]
        let isFull =
          known.keys.count { $0.kind == issuer.kind } >= VerificationLimit.countedNamesMax
        guard known[issuer] != nil || change > 0 && (issuer.kind == .apiKey || !isFull)
        else { continue }
        issuerCounts[day, default: [:]][issuer, default: IssuerCount(day: day, issuer)]
          .countIssued(change)
      }
    }
  }

  private let state = Mutex(State())

  func issue(_ codes: [HashedCode], at now: Date) async throws -> [IssueOutcome] {
    state.withLock { state in codes.map { Self.issue($0, at: now, in: &state) } }
  }

  private static func issue(
    _ code: HashedCode, at now: Date, in state: inout State
  ) -> IssueOutcome {
    if let handle = code.handle, number(of: handle, in: state) != nil { return .handleTaken }
    let hashes = [code.hash] + (code.longHash.map { [$0] } ?? [])
    guard !hashes.contains(where: { end(of: $0, in: state).map { isLive($0, at: now) } ?? false })
    else { return .codeTaken }
    if let phone = code.phoneHash {
      guard state.reports[phone]?.isBusy(at: now) != true else { return .phoneBusy }
      state.reports[phone] = PhoneReport(phoneHash: phone, at: now)
    }
    state.issued += 1
    state.issues[state.issued] = Issue(
      code: code, end: max(code.expiresAt, code.longExpiresAt), issuedAt: now)
    if !state.isCanary(code.issuer) {
      state.count(at: now) { $0.countIssued(1) }
      state.count(1, issuer: code.issuer, externalIssuer: code.externalIssuer, at: now)
    }
    for hash in hashes { state.hashes[hash] = state.issued }
    return .stored
  }

  func code(_ hash: CodeHash) async throws -> StoredCode? {
    state.withLock { state in
      guard let issue = Self.issue(hash, in: state), let end = Self.end(of: hash, in: state)
      else { return nil }
      let token = issue.redemption?.tokenIDHash
      return StoredCode(
        testResult: issue.code.testResult, redemption: issue.redemption,
        nonceHash: issue.code.nonceHash, expiresAt: end,
        isExchanged: token.map { state.exchanges[$0] != nil } ?? false,
        isCanary: state.isCanary(issue.code.issuer))
    }
  }

  func redeem(
    _ hash: CodeHash, as redemption: Redemption, at now: Date
  ) async throws -> Redemption? {
    state.withLock { state in
      guard let number = state.hashes[hash], let end = Self.end(of: hash, in: state),
        Self.isLive(end, at: now)
      else { return nil }
      if let earlier = state.issues[number]?.redemption { return earlier }
      state.issues[number]?.redemption = redemption
      let issuedAt = state.issues[number]?.issuedAt ?? now
      if !state.isCanary(state.issues[number]?.code.issuer) {
        state.count(at: now) { $0.countClaimed(after: now.unixSecond - issuedAt.unixSecond) }
      }
      if let phone = state.issues[number]?.code.phoneHash {
        state.reports[phone] = state.reports[phone]?.claimed
      }
      return redemption
    }
  }

  func exchange(_ exchange: TokenExchange, at now: Date) async throws -> TokenExchange? {
    state.withLock { state in
      if let earlier = state.exchanges[exchange.tokenIDHash] { return earlier }
      state.exchanges[exchange.tokenIDHash] = exchange
      state.count(at: now) { $0.countTokenClaimed() }
      return nil
    }
  }

  func add(_ batch: AttemptBatch) async throws {
    state.withLock { state in
      guard state.batches.insert(batch.identity).inserted else { return }
      for count in batch.counts {
        state.attempts[count.key, default: AttemptCount(count.key)].add(count)
      }
      for count in batch.events {
        let known = IssuerCount(day: count.day, count.issuer)
        state.issuerCounts[count.day, default: [:]][count.issuer, default: known]
          .countIssued(count.issued)
      }
    }
  }

  func attemptCounts() async throws -> [AttemptCount] {
    state.withLock { state in
      state.attempts.values.sorted { ($1.day, $0.apiKey) < ($0.day, $1.apiKey) }
    }
  }

  func counts() async throws -> [CodeCounts] {
    state.withLock { $0.counts.values.sorted { $0.day > $1.day } }
  }

  func issuerCounts(on day: Int64) async throws -> [IssuerCount] {
    try await issuerCounts().filter { $0.day == day }
  }

  func issuerCounts() async throws -> [IssuerCount] {
    state.withLock { state in
      state.issuerCounts.values.flatMap(\.values).sorted {
        ($1.day, $0.kind.rawValue, $0.name) < ($0.day, $1.kind.rawValue, $1.name)
      }
    }
  }

  func status(of handle: UUID) async throws -> CodeStatus? {
    state.withLock { state in
      Self.number(of: handle, in: state).flatMap { state.issues[$0]?.status }
    }
  }

  func expire(_ handle: UUID, at now: Date) async throws -> CodeStatus? {
    state.withLock { state in
      guard let number = Self.number(of: handle, in: state),
        let status = state.issues[number]?.status.ended(before: now)
      else { return nil }
      state.issues[number]?.code.expiresAt = status.expiresAt
      state.issues[number]?.code.longExpiresAt = status.longExpiresAt
      return status
    }
  }

  func expireCodes(of issuer: APIKeyID?, at now: Date) async throws -> Int {
    let handles = state.withLock { state in
      state.issues.filter { issue in
        issue.value.redemption == nil && issue.value.code.issuer == issuer
          && Self.isLive(max(issue.value.code.expiresAt, issue.value.code.longExpiresAt), at: now)
      }.map(\.key)
    }
    state.withLock { state in
      for number in handles {
        guard let code = state.issues[number]?.code else { continue }
        state.issues[number]?.code.expiresAt = min(code.expiresAt, now - 1)
        state.issues[number]?.code.longExpiresAt = min(code.longExpiresAt, now - 1)
      }
    }
    return handles.count
  }

  func withdraw(_ handle: UUID, externalIssuer: String?) async throws {
    state.withLock { state in
      guard let number = Self.number(of: handle, in: state) else { return }
      if let phone = state.issues[number]?.code.phoneHash { state.reports[phone] = nil }
      if let issue = state.issues[number] {
        state.count(at: issue.issuedAt) { $0.countIssued(-1) }
        state.count(
          -1, issuer: issue.code.issuer, externalIssuer: externalIssuer, at: issue.issuedAt)
      }
      Self.forget([number], in: &state)
    }
  }

  func freePhone(_ phoneHash: Data, at now: Date) async throws -> Bool {
    state.withLock { state in
      var hasFreed = state.reports.removeValue(forKey: phoneHash) != nil
      for (number, issue) in state.issues
      where issue.code.phoneHash == phoneHash && issue.redemption == nil {
        state.issues[number]?.code.expiresAt = min(issue.code.expiresAt, now - 1)
        state.issues[number]?.code.longExpiresAt = min(issue.code.longExpiresAt, now - 1)
        let end = max(issue.code.expiresAt, issue.code.longExpiresAt)
        hasFreed = hasFreed || Self.isLive(end, at: now)
      }
      return hasFreed
    }
  }

  func longestLifetime(of form: CodeForm, at now: Date) async throws -> TimeInterval {
    state.withLock { state in
      state.issues.values
        .filter { $0.code.form == form && Self.isLive($0.code.expiresAt, at: now) }
        .map { $0.code.expiresAt.timeIntervalSince($0.issuedAt) }.max() ?? 0
    }
  }

  func liveCount(of form: CodeForm, at now: Date, atMost count: Int) async throws -> Int {
    state.withLock { state in
      let codes = state.issues.values.map(\.code)
      return min(count, codes.count { $0.form == form && Self.isLive($0.expiresAt, at: now) })
    }
  }

  func removeExpired(at moment: Date, atMost count: Int) async throws -> Int {
    state.withLock { state in
      let codes = state.issues.filter { !Self.isLive($0.value.end, at: moment) }.keys.prefix(count)
      let tokens = state.exchanges.values.filter { !Self.isLive($0.expiresAt, at: moment) }
        .prefix(count)
      let reports = state.reports.values.filter { !Self.isLive($0.freeAt, at: moment) }
        .prefix(count)
      Self.forget(Set(codes), in: &state)
      for token in tokens { state.exchanges[token.tokenIDHash] = nil }
      for report in reports { state.reports[report.phoneHash] = nil }
      let oldest = CodeCounts.day(of: moment.unixSecond) - VerificationLimit.countedDays
      state.counts = state.counts.filter { $0.key >= oldest }
      state.attempts = state.attempts.filter { $0.key.day >= oldest }
      let today = CodeCounts.day(of: moment.unixSecond)
      state.issuerCounts = state.issuerCounts.filter { $0.key >= oldest }.mapValues { counts in
        counts.filter { $0.value.day >= today || $0.value.shown > 0 }
      }
      return codes.count + tokens.count + reports.count
    }
  }

  func add(_ key: APIKeyRecord) async throws {
    state.withLock { $0.apiKeys.append(key) }
  }

  func apiKey(_ id: APIKeyID) async throws -> APIKeyRecord? {
    state.withLock { state in state.apiKeys.first { $0.id == id } }
  }

  func apiKeys() async throws -> [APIKeyRecord] {
    state.withLock { state in
      state.apiKeys.sorted { ($0.createdAt, $0.id.text) < ($1.createdAt, $1.id.text) }
    }
  }

  func liveCounts(at now: Date) async throws -> [APIKeyID: Int] {
    state.withLock { state in
      let live = state.issues.values.filter { issue in
        issue.redemption == nil
          && Self.isLive(max(issue.code.expiresAt, issue.code.longExpiresAt), at: now)
      }
      return live.reduce(into: [:]) { counts, issue in
        if let issuer = issue.code.issuer { counts[issuer, default: 0] += 1 }
      }
    }
  }

  func revokeAPIKey(_ id: APIKeyID, at now: Date) async throws -> Bool {
    state.withLock { state in
      guard let number = state.apiKeys.firstIndex(where: { $0.id == id }) else { return false }
      state.apiKeys[number].revokedAt = state.apiKeys[number].revokedAt ?? now
      return true
    }
  }

  /// True through the last second.
  private static func isLive(_ end: Date, at now: Date) -> Bool { now < end + 1 }

  private static func number(of handle: UUID, in state: State) -> Int? {
    state.issues.first { $0.value.code.handle == handle }?.key
  }

  private static func issue(_ hash: CodeHash, in state: State) -> Issue? {
    state.hashes[hash].flatMap { state.issues[$0] }
  }

  /// The last second of the form of the code with this hash.
  private static func end(of hash: CodeHash, in state: State) -> Date? {
    issue(hash, in: state).map {
      $0.code.hash == hash ? $0.code.expiresAt : $0.code.longExpiresAt
    }
  }

  private static func forget(_ numbers: Set<Int>, in state: inout State) {
    state.hashes = state.hashes.filter { !numbers.contains($0.value) }
    for number in numbers { state.issues[number] = nil }
  }
}

extension MemoryCodeStorage {
  func check() async throws -> StorageFault? { nil }

  func clockRecord() async throws -> ClockRecord { state.withLock { $0.clock } }

  func keep(_ now: Date) async throws { state.withLock { $0.clock.newest = now } }
}
