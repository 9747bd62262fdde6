// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import QuietHTTP
import TestSupport
import Testing
import TextEncodings

@testable import HealthAuthorityConsole

/// The entries of refused sign-ins.
extension AuditTests {
  @Test("A failed sign-in is recorded with the name of its account and its network")
  func failedSignIn() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { console async throws in
      _ = try await console.administration.addAccount(name: "Anna", role: .issuer)
      for name in ["anna", "my secret password"] {
        _ = try await console.browser().post(
          "/sign-in", ["name": name, "password": "x", "code": "1"])
      }
      let refused = try await console.entries().map {
        try JSONDecoder().decode(AuditEntry.self, from: Data($0.utf8))
      }.filter { $0.action == "session.refused" }
      #expect(refused.map(\.subject) == ["Anna", ""])
      #expect(refused.allSatisfy { $0.detail == "from 127.0.0.0/24" })
    }
  }

  @Test(
    "A flood of refused sign-ins has few entries with their number, in each window, and hides none")
  func refusedFlood() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(
      in: folder.url,
      configure: { $0.trustedProxies = TrustedProxies(["127.0.0.0/8"]) ?? .none }
    ) { console async throws in
      _ = try await console.administration.addAccount(name: "Anna", role: .issuer)
      func refuse(_ path: String, _ fields: [String: String], from client: String) async throws {
        let response = try await console.browser().post(
          path, fields, headers: ["x-forwarded-for": client])
        #expect([401, 429].contains(response.status))
      }
      func refusals() async throws -> [AuditEntry] {
        try await console.entries().map {
          try JSONDecoder().decode(AuditEntry.self, from: Data($0.utf8))
        }.filter { $0.action.hasPrefix("session.refused") || $0.action == "session.locked" }
      }
      for window in 1...2 {
        let before = try await refusals().count
        for number in 0..<40 {
          let fields = ["name": "nobody \(number)", "password": "x", "code": "1"]
          try await refuse("/sign-in", fields, from: "192.0.2.1")
          try await refuse("/sign-in/passkey", ["id": "AA"], from: "192.0.2.2")
          try await refuse("/sign-in", fields, from: "198.51.\(number).1")
        }
        for _ in 0..<7 {
          try await refuse(
            "/sign-in", ["name": "Anna", "password": "x", "code": "1"], from: "203.0.113.1")
        }
        // Of no account eight networks, one of them also with passkeys, and the others; two of Anna.
        #expect(try await refusals().count == before + 9 + 1 + 2, "\(window)")
        console.clock.advance(by: Double(ConsoleLimit.signInWindowSeconds))
        try await refuse(
          "/sign-in", ["name": "Anna", "password": "x", "code": "1"], from: "203.0.113.1")
        let entries = try await refusals().dropFirst(before)
        #expect(
          entries.contains { $0.detail == "39 more, from 192.0.2.0/24" && $0.subject.isEmpty })
        #expect(entries.contains { $0.detail == "39 more, passkey, from 192.0.2.0/24" })
        #expect(
          entries.contains { $0.subject == "Anna" && $0.detail == "4 more, from 203.0.113.0/24" })
        let counted = entries.reduce(0) { $0 + (Int($1.detail.prefix { $0.isNumber }) ?? 1) }
        #expect(counted == 40 * 3 + 7 + 1)
        console.clock.advance(by: Double(ConsoleLimit.signInWindowSeconds))
      }
    }
    try await expectCountsAtTheEnd(in: folder)
  }

  @Test(
    "After 256 accounts and networks with refusals, further ones are counted by account without the network"
  )
  func refusalsOfManyAccounts() async throws {
    let (folder, database) = try database()
    defer { withExtendedLifetime(folder) {} }
    let clock = ManualClock(RunningConsole.start)
    let audit = AuditLog(
      database: database, key: try #require(Self.key), clock: clock, fieldBytesMax: 1_024)
    let refusals = RefusedSignIns(audit: audit)
    for number in 0...ConsoleLimit.refusalsMax + 1 {
      try await refusals.record(
        RefusedSignIns.Refusal(
          action: .signInFailed, account: "account \(number)", network: "192.0.2.0/24"))
    }
    let entries = try await audit.newest(1_000)
    #expect(entries.count == ConsoleLimit.refusalsMax + 2)
    #expect(entries[1].detail == "from other networks" && entries[2].detail.contains("192.0.2.0"))
    for network in 1...20 {
      try await refusals.record(
        RefusedSignIns.Refusal(
          action: .signInFailed, account: "account \(ConsoleLimit.refusalsMax + 1)",
          network: "198.51.\(network).0/24"))
    }
    #expect(try await audit.newest(1_000) == entries)
    try await refusals.report()
    let counted = try #require(try await audit.newest(1).first)
    #expect(counted.detail == "20 more, from other networks")
    #expect(counted.subject == "account \(ConsoleLimit.refusalsMax + 1)")
    #expect(await !refusals.isWindowOver)
    try await refusals.record(
      RefusedSignIns.Refusal(action: .signInFailed, account: "a", network: "192.0.2.0/24"))
    clock.advance(by: -1)
    #expect(await refusals.isWindowOver)
  }

  @Test(
    "A name that looks like another account or like the operator is refused",
    arguments: ["аnna", "ANNA", "Anпa", "Αnna", "cоmmand line", "command Iine", "ann а"])
  func lookAlikes(name: String) async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { console async throws in
      _ = try await console.administration.addAccount(name: "Anna", role: .issuer)
      if name == "Anпa" {
        // This letter looks like no Latin one.
        _ = try await console.administration.addAccount(name: name, role: .issuer)
      } else {
        await #expect(throws: ConsoleError.self) {
          _ = try await console.administration.addAccount(name: name, role: .issuer)
        }
      }
    }
  }

  /// The end of the console records the refusals that were only counted.
  private func expectCountsAtTheEnd(in folder: TemporaryFolder) async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      for _ in 0..<3 {
        _ = try await console.browser().post(
          "/sign-in", ["name": "Anna", "password": "x", "code": "1"])
      }
    }
    let keys = try #require(ConsoleKeys(Data(repeating: 7, count: 32), byteCount: 32))
    let database = try ConsoleDatabase(reading: folder.path("console.sqlite"), keys: keys)
    let details = try await database.read {
      try $0.rows(sql: "SELECT detail FROM audit ORDER BY sequence").map { row -> String in
        row["detail"]
      }
    }
    #expect(details.suffix(2) == ["from 127.0.0.0/24", "2 more, from 127.0.0.0/24"])
  }
}
