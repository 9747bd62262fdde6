import Foundation
import Synchronization

@testable import VerificationServer

/// The verification database as plain values: the second implementation of `CodeStorage`, against which
/// the suites hold the first.
final class MemoryCodeStorage: CodeStorage {
  /// A code that was issued, whatever its spellings.
  private struct Issue {
    var code: IssuedCode
    /// From when it may be forgotten, whatever became of it.
    let end: Date
    var redemption: Redemption?

    var fate: CodeFate {
      CodeFate(
        isClaimed: redemption != nil, expiresAt: code.expiresAt,
        longExpiresAt: code.longExpiresAt, issuer: code.issuer)
    }
  }

  private struct State {
    var issues: [Int: Issue] = [:]
    /// Which code each spelling is of.
    var spellings: [CodeHash: Int] = [:]
    var exchanges: [Data: TokenExchange] = [:]
    var reports: [Data: PhoneReport] = [:]
    var apiKeys: [ApiKeyRecord] = []
    var issued = 0
  }

  private let state = Mutex(State())

  func issue(_ codes: [IssuedCode], at now: Date) async throws -> [IssueOutcome] {
    state.withLock { state in codes.map { Self.issue($0, at: now, in: &state) } }
  }

  private static func issue(
    _ code: IssuedCode, at now: Date, in state: inout State
  ) -> IssueOutcome {
    if let handle = code.handle, number(of: handle, in: state) != nil { return .handleTaken }
    let hashes = [code.hash] + (code.longHash.map { [$0] } ?? [])
    guard !hashes.contains(where: { end(of: $0, in: state).map { isLive($0, at: now) } ?? false })
    else { return .codeTaken }
    if let mark = code.phoneMark {
      guard state.reports[mark]?.isBusy(at: now) != true else { return .phoneBusy }
      state.reports[mark] = PhoneReport(phoneMark: mark, at: now)
    }
    state.issued += 1
    state.issues[state.issued] = Issue(code: code, end: max(code.expiresAt, code.longExpiresAt))
    for hash in hashes { state.spellings[hash] = state.issued }
    return .kept
  }

  func code(_ hash: CodeHash) async throws -> LiveCode? {
    state.withLock { state in
      guard let issue = Self.issue(hash, in: state), let end = Self.end(of: hash, in: state)
      else { return nil }
      let token = issue.redemption?.tokenMark
      return LiveCode(
        finding: issue.code.finding, redemption: issue.redemption,
        nonceMark: issue.code.nonceMark, expiresAt: end,
        isExchanged: token.map { state.exchanges[$0] != nil } ?? false)
    }
  }

  func redeem(
    _ hash: CodeHash, as redemption: Redemption, at now: Date
  ) async throws -> Redemption? {
    state.withLock { state in
      guard let number = state.spellings[hash], let end = Self.end(of: hash, in: state),
        Self.isLive(end, at: now)
      else { return nil }
      if let earlier = state.issues[number]?.redemption { return earlier }
      state.issues[number]?.redemption = redemption
      if let mark = state.issues[number]?.code.phoneMark {
        state.reports[mark] = state.reports[mark]?.claimed
      }
      return redemption
    }
  }

  func exchange(_ exchange: TokenExchange) async throws -> TokenExchange {
    state.withLock { state in
      let held = state.exchanges[exchange.tokenMark] ?? exchange
      state.exchanges[exchange.tokenMark] = held
      return held
    }
  }

  func fate(_ handle: UUID) async throws -> CodeFate? {
    state.withLock { state in
      Self.number(of: handle, in: state).flatMap { state.issues[$0]?.fate }
    }
  }

  func expire(_ handle: UUID, at now: Date) async throws -> CodeFate? {
    state.withLock { state in
      guard let number = Self.number(of: handle, in: state),
        let fate = state.issues[number]?.fate.ended(before: now)
      else { return nil }
      state.issues[number]?.code.expiresAt = fate.expiresAt
      state.issues[number]?.code.longExpiresAt = fate.longExpiresAt
      return fate
    }
  }

  func withdraw(_ handle: UUID) async throws {
    state.withLock { state in
      guard let number = Self.number(of: handle, in: state) else { return }
      if let mark = state.issues[number]?.code.phoneMark { state.reports[mark] = nil }
      Self.forget([number], in: &state)
    }
  }

  func liveCount(at now: Date, atMost count: Int) async throws -> Int {
    state.withLock { state in
      min(
        count,
        state.spellings.keys.count { hash in
          Self.end(of: hash, in: state).map { Self.isLive($0, at: now) } ?? false
        })
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
      for token in tokens { state.exchanges[token.tokenMark] = nil }
      for report in reports { state.reports[report.phoneMark] = nil }
      return codes.count + tokens.count + reports.count
    }
  }

  func add(_ key: ApiKeyRecord) async throws {
    state.withLock { $0.apiKeys.append(key) }
  }

  func apiKey(_ id: ApiKeyID) async throws -> ApiKeyRecord? {
    state.withLock { state in state.apiKeys.first { $0.id == id } }
  }

  func apiKeys() async throws -> [ApiKeyRecord] {
    state.withLock { state in
      state.apiKeys.sorted { ($0.createdAt, $0.id.text) < ($1.createdAt, $1.id.text) }
    }
  }

  func revokeApiKey(_ id: ApiKeyID, at now: Date) async throws -> Bool {
    state.withLock { state in
      guard let number = state.apiKeys.firstIndex(where: { $0.id == id }) else { return false }
      state.apiKeys[number].revokedAt = state.apiKeys[number].revokedAt ?? now
      return true
    }
  }

  /// Through its last second.
  private static func isLive(_ end: Date, at now: Date) -> Bool { now < end + 1 }

  private static func number(of handle: UUID, in state: State) -> Int? {
    state.issues.first { $0.value.code.handle == handle }?.key
  }

  private static func issue(_ hash: CodeHash, in state: State) -> Issue? {
    state.spellings[hash].flatMap { state.issues[$0] }
  }

  /// The last second of this spelling.
  private static func end(of hash: CodeHash, in state: State) -> Date? {
    issue(hash, in: state).map {
      $0.code.hash == hash ? $0.code.expiresAt : $0.code.longExpiresAt
    }
  }

  private static func forget(_ numbers: Set<Int>, in state: inout State) {
    state.spellings = state.spellings.filter { !numbers.contains($0.value) }
    for number in numbers { state.issues[number] = nil }
  }
}
