// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import VerificationAPI
import World

/// The numbers of attempts of apps with one API key, with codes and tokens, on one day in UTC.
struct AttemptCount: Codable, Hashable, Sendable {
  /// A day and a key.
  struct Key: Hashable, Sendable {
    /// The day, counted from 1970.
    let day: Int64
    /// The ID of the API key; empty for the ProteGO Safe contract, whose apps have none.
    let apiKey: String
  }

  /// The events that are counted.
  enum Event: Hashable, Sendable {
    /// A code was exchanged for a token.
    case codeClaimed
    /// A code was unknown, used or expired.
    case codeInvalid
    /// A token was exchanged for a certificate.
    case tokenClaimed
    /// A token was unknown or expired, or was exchanged for other keys before.
    case tokenInvalid
  }

  let day: Int64
  let apiKey: String
  private(set) var codesClaimed = 0
  private(set) var codesInvalid = 0
  /// The part of `codesInvalid` that apps on iOS have entered; nil if an earlier version has counted some of them.
  private(set) var codesInvalidIOS: Int? = 0
  /// The part of `codesInvalid` that apps on Android have entered; nil as above.
  private(set) var codesInvalidAndroid: Int? = 0
  private(set) var tokensClaimed = 0
  private(set) var tokensInvalid = 0

  /// No attempts.
  init(_ key: Key) {
    day = key.day
    apiKey = key.apiKey
  }

  var key: Key { Key(day: day, apiKey: apiKey) }

  /// - Parameter system: The system of the app; it is counted for invalid codes.
  mutating func count(_ event: Event, on system: AppSystem = .unknown) {
    switch event {
    case .codeClaimed: codesClaimed += 1
    case .codeInvalid:
      codesInvalid += 1
      if system == .ios { codesInvalidIOS? += 1 }
      if system == .android { codesInvalidAndroid? += 1 }
    case .tokenClaimed: tokensClaimed += 1
    case .tokenInvalid: tokensInvalid += 1
    }
  }

  /// Adds the numbers of `other`, whatever its day and key.
  mutating func add(_ other: AttemptCount) {
    codesClaimed += other.codesClaimed
    codesInvalid += other.codesInvalid
    codesInvalidIOS = Self.sum(codesInvalidIOS, other.codesInvalidIOS)
    codesInvalidAndroid = Self.sum(codesInvalidAndroid, other.codesInvalidAndroid)
    tokensClaimed += other.tokensClaimed
    tokensInvalid += other.tokensInvalid
  }

  /// The sum of two numbers; nil if one is unknown.
  private static func sum(_ first: Int?, _ second: Int?) -> Int? {
    guard let first, let second else { return nil }
    return first + second
  }

  /// The numbers that are shown: rounded down, so that none shows a single attempt.
  var shown: AttemptCount {
    var shown = self
    shown.codesClaimed = IssuerCount.rounded(codesClaimed)
    shown.codesInvalid = IssuerCount.rounded(codesInvalid)
    shown.codesInvalidIOS = codesInvalidIOS.map { IssuerCount.rounded($0) }
    shown.codesInvalidAndroid = codesInvalidAndroid.map { IssuerCount.rounded($0) }
    shown.tokensClaimed = IssuerCount.rounded(tokensClaimed)
    shown.tokensInvalid = IssuerCount.rounded(tokensInvalid)
    return shown
  }

  /// The invalid codes by system as they are shown: each number rounded down by itself; nil if they are unknown.
  var shownBySystem: CodeStatisticsResponse.InvalidCodes? {
    guard let ios = codesInvalidIOS, let android = codesInvalidAndroid else { return nil }
    return CodeStatisticsResponse.InvalidCodes(
      unknown: IssuerCount.rounded(codesInvalid - ios - android),
      ios: IssuerCount.rounded(ios), android: IssuerCount.rounded(android))
  }

  /// True if no number is above zero.
  var isZero: Bool { codesClaimed + codesInvalid + tokensClaimed + tokensInvalid == 0 }
}

/// The system of an app, by its header `User-Agent`. Apps of iOS send the name of its kernel, those of Android that of
/// its runtime.
enum AppSystem: Hashable, Sendable {
  case unknown, ios, android

  init(userAgent: String?) {
    let agent = userAgent?.lowercased() ?? ""
    let names: KeyValuePairs<String, AppSystem> = [
      "darwin": .ios, "iphone": .ios, "dalvik": .android, "android": .android,
    ]
    self = names.first { agent.contains($0.key) }?.value ?? .unknown
  }
}

/// Numbers of attempts and events that are stored together.
struct AttemptBatch: Sendable {
  /// The size of the identity in bytes.
  private static let identityBytes = 16

  /// Random, so that a storage recognizes a batch that it has.
  let identity: Data
  let counts: [AttemptCount]
  let events: [IssuerCount]

  init(_ counts: [AttemptCount], events: [IssuerCount] = [], randomness: any Randomness) {
    identity = Data(randomness.bytes(Self.identityBytes))
    (self.counts, self.events) = (counts, events)
  }
}

/// Counts attempts, user reports and errors of the SMS gateway in memory and adds them to the storage from time to
/// time, so that a wrong code costs no write. A server that is killed loses those of the last
/// `VerificationLimit.cleanupPeriodSeconds`.
final class AttemptCounter: Sendable {
  private let storage: any CodeStorage
  private let clock: any WallClock
  private let randomness: any Randomness
  private let state = Mutex(State())

  private struct State {
    var attempts: [AttemptCount.Key: AttemptCount] = [:]
    var events: [Int64: [IssuerCount.Issuer: IssuerCount]] = [:]
    /// Batches that may be stored or not: one, unless `store()` runs twice at once.
    var unconfirmed: [AttemptBatch] = []

    /// Returns what was counted since the last batch, and keeps none of it; nil for nothing.
    mutating func takeCounted(_ randomness: any Randomness) -> AttemptBatch? {
      guard !attempts.isEmpty || !events.isEmpty else { return nil }
      defer { (attempts, events) = ([:], [:]) }
      return AttemptBatch(
        Array(attempts.values), events: events.values.flatMap(\.values), randomness: randomness)
    }
  }

  init(storage: any CodeStorage, clock: any WallClock, randomness: any Randomness) {
    (self.storage, self.clock, self.randomness) = (storage, clock, randomness)
  }

  /// Counts an attempt of now.
  ///
  /// - Parameters:
  ///   - apiKey: The key of the app; nil if its contract has none.
  ///   - system: The system of the app.
  func count(_ event: AttemptCount.Event, by apiKey: APIKeyID?, on system: AppSystem = .unknown) {
    let key = AttemptCount.Key(
      day: CodeCounts.day(of: clock.now.unixSecond), apiKey: apiKey?.text ?? "")
    state.withLock { $0.attempts[key, default: AttemptCount(key)].count(event, on: system) }
  }

  /// Counts an event of now.
  func count(_ event: UserReportEvent) { count(event.counted) }

  /// Counts an event of now of a kind that has no type here.
  func count(_ counted: IssuerCount.Issuer) {
    let day = CodeCounts.day(of: clock.now.unixSecond)
    state.withLock {
      $0.events[day, default: [:]][counted, default: IssuerCount(day: day, counted)].countIssued(1)
    }
  }

  /// Adds what was counted to the storage. If that fails, it is kept for the next time, as the same batch. Later
  /// numbers are added up in memory until this batch is stored.
  func store() async throws {
    while let batch = state.withLock({ $0.unconfirmed.popLast() }) { try await add(batch) }
    if let batch = state.withLock({ $0.takeCounted(randomness) }) { try await add(batch) }
  }

  private func add(_ batch: AttemptBatch) async throws {
    do { try await storage.add(batch) } catch {
      state.withLock { $0.unconfirmed.append(batch) }
      throw error
    }
  }
}
