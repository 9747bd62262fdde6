// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServerStorage
import Synchronization
import TestSupport
import Testing
import VerificationAPI
import World

@testable import VerificationServer

/// The numbers of invalid codes and of what device keys do.
@Suite struct AttemptCountTests {
  typealias Implementation = StorageImplementation

  private static let now = VerificationBench.start
  private static let day = CodeCounts.day(of: now.unixSecond)

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static func count(
    _ events: AttemptCount.Event..., on day: Int64 = day, by key: String
  ) -> AttemptCount {
    var count = AttemptCount(AttemptCount.Key(day: day, apiKey: key))
    for event in events { count.count(event) }
    return count
  }

  @Test(
    "Attempts are added by day and key, and removed after the counted days",
    arguments: Implementation.allCases)
  func storage(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    try await storage.add(
      Self.batch([
        Self.count(.codeInvalid, by: "b"), Self.count(.codeClaimed, .tokenClaimed, by: "a"),
        Self.count(.tokenInvalid, on: Self.day + 1, by: ""),
      ]))
    try await storage.add(Self.batch([Self.count(.codeInvalid, .codeClaimed, by: "a")]))
    let first = [
      Self.count(.codeClaimed, .tokenClaimed, .codeInvalid, .codeClaimed, by: "a"),
      Self.count(.codeInvalid, by: "b"),
    ]
    let second = Self.count(.tokenInvalid, on: Self.day + 1, by: "")
    #expect(try await storage.attemptCounts() == [second] + first)
    let end = Date(unixSecond: (Self.day + VerificationLimit.countedDays) * 86_400)
    _ = try await storage.removeExpired(at: end, atMost: 5)
    #expect(try await storage.attemptCounts() == [second] + first)
    _ = try await storage.removeExpired(at: end + 86_400, atMost: 5)
    #expect(try await storage.attemptCounts() == [second])
  }

  /// Numbers of events on `day`.
  private static func events(
    _ kind: IssuerCount.Kind, on day: Int64 = day, _ numbers: KeyValuePairs<String, Int>
  ) -> [IssuerCount] {
    numbers.map { name, number in
      var count = IssuerCount(day: day, IssuerCount.Issuer(kind: kind, name: name))
      count.countIssued(number)
      return count
    }
  }

  @Test(
    "User reports and errors of the gateway are added by day and name",
    arguments: Implementation.allCases)
  func events(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let first = Self.batch(events: Self.events(.userReport, ["issued": 12, "claimed": 1]))
    let second = Self.batch(
      events: Self.events(.userReport, ["claimed": 9]) + Self.events(.smsError, ["30003": 2]))
    for batch in [first, second] { try await storage.add(batch) }
    #expect(
      try await storage.issuerCounts()
        == Self.events(.smsError, ["30003": 2])
        + Self.events(.userReport, ["claimed": 10, "issued": 12]))
  }

  @Test("User reports and errors of the gateway are shown when their day is over, in tens")
  func shownEvents() async throws {
    let storage = try SQLiteCodeStorage(file: folder.path("verification.sqlite"))
    let reports: KeyValuePairs = [
      "claimed": 21, "invalidNonce": 12, "issued": 39, "tokenClaimed": 19, "later": 50,
    ]
    let errors: KeyValuePairs = ["21211": 9, "30003": 17, "failed": 10]
    try await storage.add(
      Self.batch(
        events: Self.events(.userReport, on: Self.day - 1, reports)
          + Self.events(.smsError, on: Self.day - 1, errors)
          + Self.events(.smsError, ["30003": 30])))
    try await RunningServer.run(in: folder.url) { server async throws in
      let realm = try JSONDecoder().decode(
        CodeStatisticsResponse.self, from: try await get(VerificationRoute.statistics, server))
      let data = try #require(realm.statistics.first?.data)
      #expect(realm.statistics.count == 1)
      #expect(data.userReportsIssued == 30 && data.userReportsClaimed == 20)
      #expect(data.userReportsInvalidNonce == 10 && data.userReportTokensClaimed == 10)
      let route = VerificationRoute.smsErrorStatistics
      let shown = try JSONDecoder().decode(
        SMSErrorStatisticsResponse.self, from: try await get(route, server))
      #expect(
        shown.statistics == [
          .init(
            date: "2027-01-14T00:00:00Z",
            errors: [.init(code: "30003", quantity: 10), .init(code: "failed", quantity: 10)])
        ])
      let csv = try await get(VerificationRoute.csv(of: route), server)
      #expect(
        String(decoding: csv, as: UTF8.self)
          == "date,realm_id,error_code,quantity\r\n2027-01-14,1,30003,10\r\n2027-01-14,1,failed,10\r\n"
      )
    }
  }

  private static func batch(
    _ counts: [AttemptCount] = [], events: [IssuerCount] = []
  ) -> AttemptBatch {
    AttemptBatch(counts, events: events, randomness: SystemRandomness())
  }

  @Test(
    "A batch that is added again, because the outcome of its commit was unknown, is counted once",
    .needs(.process))
  func unknownOutcome() async throws {
    let storage = try await Implementation.postgresql.open(in: folder)
    let batch = Self.batch([Self.count(.codeInvalid, by: "a")])
    for _ in 0..<2 { try await storage.add(batch) }
    #expect(try await storage.attemptCounts().map(\.codesInvalid) == [1])
    try await storage.add(Self.batch(batch.counts))
    #expect(try await storage.attemptCounts().map(\.codesInvalid) == [2])
  }

  @Test("Attempts that could not be stored are kept for the next time, and counted once")
  func failure() async throws {
    let storage = try SQLiteCodeStorage(file: folder.path("verification.sqlite"))
    let counter = AttemptCounter(
      storage: storage, clock: ManualClock(Self.now), randomness: SystemRandomness())
    for _ in 0..<3 { counter.count(.codeInvalid, by: nil) }
    try await storage.write { try $0.execute(sql: "ALTER TABLE attemptCount RENAME TO other") }
    await #expect(throws: VerificationServerError.storageUnavailable) { try await counter.store() }
    counter.count(.codeInvalid, by: nil)
    try await storage.write { try $0.execute(sql: "ALTER TABLE other RENAME TO attemptCount") }
    for _ in 0..<2 { try await counter.store() }
    #expect(try await storage.attemptCounts().map(\.codesInvalid) == [4])
    // The same for events.
    counter.count(UserReportEvent.claimed)
    try await storage.write { try $0.execute(sql: "ALTER TABLE issuerCount RENAME TO other") }
    await #expect(throws: VerificationServerError.storageUnavailable) { try await counter.store() }
    counter.count(UserReportEvent.claimed)
    try await storage.write { try $0.execute(sql: "ALTER TABLE other RENAME TO issuerCount") }
    for _ in 0..<2 { try await counter.store() }
    #expect(try await storage.issuerCounts().map(\.issued) == [2])
    #expect(try await storage.attemptCounts().map(\.codesInvalid) == [4])
  }

  /// Counts the identities of batches.
  private final class CountedRandomness: Randomness {
    private let state = Mutex(0)

    var calls: Int { state.withLock { $0 } }

    func bytes(_ count: Int) -> [UInt8] {
      state.withLock { $0 += 1 }
      return SystemRandomness().bytes(count)
    }
  }

  @Test("While the storage is away, the attempts after the first batch are added up")
  func outage() async throws {
    let storage = try SQLiteCodeStorage(file: folder.path("verification.sqlite"))
    let randomness = CountedRandomness()
    let counter = AttemptCounter(
      storage: storage, clock: ManualClock(Self.now), randomness: randomness)
    try await storage.write { try $0.execute(sql: "ALTER TABLE attemptCount RENAME TO other") }
    for _ in 0..<5 {
      counter.count(.codeInvalid, by: nil)
      await #expect(throws: VerificationServerError.storageUnavailable) {
        try await counter.store()
      }
    }
    #expect(randomness.calls == 1)
    try await storage.write { try $0.execute(sql: "ALTER TABLE other RENAME TO attemptCount") }
    try await counter.store()
    #expect(randomness.calls == 2)
    #expect(try await storage.attemptCounts().map(\.codesInvalid) == [5])
  }

  @Test(
    "Numbers are shown rounded down to tens", arguments: [(9, 0), (10, 10), (19, 10), (20, 20)])
  func rounded(count: Int, shown: Int) {
    var attempts = Self.count(by: "a")
    for _ in 0..<count {
      for event in [
        AttemptCount.Event.codeClaimed, .codeInvalid, .tokenClaimed, .tokenInvalid,
      ] { attempts.count(event) }
    }
    let numbers = attempts.shown
    #expect(
      [
        numbers.codesClaimed, numbers.codesInvalid, numbers.tokensClaimed, numbers.tokensInvalid,
      ] == Array(repeating: shown, count: 4))
    #expect(numbers.isZero == (shown == 0))
  }

  @Test(
    "Invalid codes are stored by the system of the app, and each number is rounded by itself",
    arguments: Implementation.allCases)
  func systems(implementation: Implementation) async throws {
    let storage = try await implementation.open(in: folder)
    let counter = AttemptCounter(
      storage: storage, clock: ManualClock(Self.now), randomness: SystemRandomness())
    for (system, count) in [(AppSystem.ios, 12), (.android, 19), (.unknown, 9)] {
      for number in 0..<count {
        counter.count(.codeInvalid, by: nil, on: system)
        // Stored in two parts.
        if number == 5 { try await counter.store() }
      }
    }
    // The system of other events is not counted.
    counter.count(.codeClaimed, by: nil, on: .ios)
    try await counter.store()
    let count = try #require(try await storage.attemptCounts().first)
    #expect(count.codesInvalid == 40 && count.codesInvalidIOS == 12)
    #expect(count.codesInvalidAndroid == 19)
    #expect(count.shownBySystem == .init(unknown: 0, ios: 10, android: 10))
  }

  @Test(
    "The system of an app is that of its user agent",
    arguments: [
      ("Exposure/1 CFNetwork/1220.1 Darwin/20.3.0", .ios),
      ("App (iPhone; iOS 14.4)", .ios),
      ("Dalvik/2.1.0 (Linux; U; Android 11; Pixel 3)", .android), ("okhttp/4.9.0", .unknown),
      (nil, .unknown), ("", .unknown),
    ] as [(String?, AppSystem)])
  func system(agent: String?, system: AppSystem) {
    #expect(AppSystem(userAgent: agent) == system)
  }

  @Test("A database of the version before keeps its attempts, whose systems are unknown")
  func migration() async throws {
    let file = folder.path("verification.sqlite")
    let queue = try DatabaseQueue(waitingAt: file.path)
    try SQLiteCodeStorage.schema.migrations.migrate(queue, upTo: "schema 3")
    try await queue.write {
      try $0.execute(
        sql: "INSERT INTO attemptCount VALUES (?, 'a', 1, 30, 2, 3)", arguments: [Self.day])
    }
    try queue.close()
    let storage = try SQLiteCodeStorage(file: file)
    try await storage.add(
      Self.batch([
        Self.count(.codeInvalid, by: "a"), Self.count(.codeInvalid, on: Self.day + 1, by: "a"),
      ]))
    let counts = try await storage.attemptCounts()
    #expect(counts.map(\.codesInvalid) == [1, 31] && counts.last?.tokensInvalid == 3)
    #expect(
      counts.map(\.shownBySystem) == [.init(unknown: 0, ios: 0, android: 0), nil])
    let data = CodeCounts(day: Self.day).statistics(counts.last, reports: nil).data
    #expect(data.codesInvalid == 30 && data.codesInvalidBySystem == nil)
  }

  /// Claims `count` codes and their tokens with the device key of the server, each twice.
  private func claim(_ count: Int, _ server: RunningServer) async throws {
    let hmac = RunningServer.keyHMAC.base64EncodedString()
    for _ in 0..<count {
      let code = try await server.issue().code
      let token = try await server.verified(code).token
      _ = try await server.verified(code)
      for _ in 0..<2 {
        _ = try await server.post(
          VerificationRoute.certificate, #"{"token":"\#(token)","ekeyhmac":"\#(hmac)"}"#,
          headers: ["X-API-Key": server.deviceKey])
      }
    }
  }

  /// Sends wrong codes and wrong tokens with the device key of the server, and wrong PINs without a key.
  private func fail(codes: Int, tokens: Int, pins: Int, _ server: RunningServer) async throws {
    let device = ["X-API-Key": server.deviceKey, "User-Agent": "Dalvik/2.1.0"]
    for number in 0..<codes {
      let code = number.isMultiple(of: 2) ? "1234567\(number % 10)" : "no code"
      _ = try await server.post(
        VerificationRoute.verify, #"{"code":"\#(code)"}"#, headers: device)
    }
    let hmac = RunningServer.keyHMAC.base64EncodedString()
    for _ in 0..<tokens {
      _ = try await server.post(
        VerificationRoute.certificate, #"{"token":"none","ekeyhmac":"\#(hmac)"}"#,
        headers: device)
    }
    for _ in 0..<pins {
      _ = try await server.redeem("A1B2C3", headers: ["User-Agent": "App/1 Darwin/20.3.0"])
    }
  }

  private func get(_ path: String, _ server: RunningServer) async throws -> Data {
    let response = try await server.get(path, headers: ["X-API-Key": server.adminKey])
    try #require(response.status == 200)
    return response.body
  }

  @Test("Invalid codes and the attempts of device keys are shown when their day is over, in tens")
  func statistics() async throws {
    try await RunningServer.run(in: folder.url) { server async throws in
      let id = String(server.deviceKey.prefix(16))
      try await claim(11, server)
      try await fail(codes: 12, tokens: 10, pins: 9, server)
      let realm = VerificationRoute.csv(of: VerificationRoute.statistics)
      func lines(_ path: String) async throws -> [String] {
        String(decoding: try await get(path, server), as: UTF8.self)
          .split(separator: "\r\n").map(String.init)
      }
      // The numbers of today are empty.
      #expect(try await lines(realm).last?.hasPrefix("2027-01-15,11,11,,11,,") == true)
      let path = "/api/stats/realm/api-keys/\(id)"
      #expect(try await lines("\(path).csv").count == 1)
      server.clock.advance(by: 86_400)
      // 12 codes on Android and 9 PINs on iOS.
      #expect(try await lines(realm).last?.hasPrefix("2027-01-15,11,11,20,11,10,") == true)
      #expect(try await lines(realm).last?.hasSuffix(",0,0,0,0,0,10,0") == true)
      let days = try JSONDecoder().decode(
        CodeStatisticsResponse.self, from: try await get(VerificationRoute.statistics, server))
      #expect(
        days.statistics.first?.data.codesInvalidBySystem == .init(unknown: 0, ios: 0, android: 10))
      #expect(
        try await lines("\(path).csv") == [
          "date,authorized_app_id,authorized_app_name,authorized_app_type,codes_issued,"
            + "codes_claimed,codes_invalid,tokens_claimed,tokens_invalid",
          "2027-01-15,\(id),an app,device,0,10,10,10,10",
        ])
      let one = try JSONDecoder().decode(
        APIKeyStatisticsResponse.self, from: try await get("\(path).json", server))
      #expect(one.statistics.map(\.data.codesInvalid) == [10])
      let all = try JSONDecoder().decode(
        IssuerStatisticsResponse.self,
        from: try await get(VerificationRoute.apiKeysStatistics, server))
      let app = all.statistics.first?.issuers.first { $0.apiKeyID == id }
      #expect(app?.codesClaimed == 10 && app?.tokensInvalid == 10 && app?.codesIssued == 0)
    }
    // The end of the server stores what it has counted.
    try await RunningServer.run(in: folder.url) { server async throws in
      try await fail(codes: 10, tokens: 0, pins: 0, server)
    }
    let storage = try SQLiteCodeStorage(file: folder.path("verification.sqlite"))
    #expect(try await storage.attemptCounts().first { $0.codesInvalid == 10 } != nil)
  }
}
