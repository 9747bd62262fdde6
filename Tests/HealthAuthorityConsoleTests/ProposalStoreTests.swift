// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport
import Testing
import World

@testable import HealthAuthorityConsole

/// The rules of two people in the transaction of a decision, whatever the pages have checked before.
@Suite struct ProposalStoreTests {
  private let folder: TemporaryFolder
  private let clock = ManualClock(RunningConsole.start)
  private let administration: ConsoleAdministration
  private let store: ProposalStore

  init() throws {
    folder = try TemporaryFolder()
    var configuration = ConsoleConfiguration(
      databaseFile: folder.path("console.sqlite"),
      secret: Data(repeating: 7, count: ConsoleConfiguration.secretBytes))
    configuration.scryptCostLog = 4
    administration = try ConsoleAdministration(
      configuration, clock: clock, randomness: SystemRandomness())
    let composition = administration.composition
    store = ProposalStore(
      database: composition.database, audit: composition.audit, clock: clock,
      kind: .administration)
  }

  private func account(_ name: String) async throws -> Account {
    let accounts = administration.composition.accounts
    if let known = try await accounts.account(named: name) { return known }
    _ = try await administration.addAccount(name: name, role: .administrator)
    return try #require(try await accounts.account(named: name))
  }

  /// The number of a new request.
  private func request(
    _ change: ConsoleChange = .rotateSigningKey(server: .keys), by author: Account,
    about account: Account? = nil
  ) async throws -> Int64 {
    let draft = ProposalStore.Draft(
      document: try change.document, summary: change.summary, reason: "x", accountID: account?.id)
    #expect(try await store.add(draft, by: author, openMax: 10) == .stored)
    return try #require(try await store.open().last?.id)
  }

  private func change(_ sql: String) async throws {
    try await store.database.write { try $0.execute(sql: sql) }
  }

  @Test(
    "The author approves no request, nor does an account of the same circle, but both reject it")
  func independent() async throws {
    let (anna, berta) = (try await account("Anna"), try await account("Berta"))
    try await change("UPDATE account SET circle = \(anna.circle) WHERE name = 'Berta'")
    for actor in [anna, berta] {
      let number = try await request(by: anna)
      // The session of the actor may be older than the circle.
      #expect(try await store.decide(number, .approved, by: actor) == .notIndependent)
      #expect(try await store.decide(number, .rejected, by: actor) == .decided)
    }
    let cara = try await account("Cara")
    let number = try await request(by: anna)
    #expect(try await store.decide(number, .approved, by: cara) == .decided)
    for decision in [Proposal.Decision.approved, .rejected] {
      #expect(try await store.decide(number, decision, by: cara) == .notOpen)
    }
  }

  @Test(
    "An expired request, one of a disabled author and one that a disabled account decides stay undecided"
  )
  func open() async throws {
    let (anna, berta) = (try await account("Anna"), try await account("Berta"))
    for seconds in [ConsoleLimit.changeSeconds - 1, ConsoleLimit.changeSeconds] {
      let number = try await request(by: anna)
      clock.advance(by: Double(seconds))
      let outcome = try await store.decide(number, .approved, by: berta)
      #expect(outcome == (seconds < ConsoleLimit.changeSeconds ? .decided : .notOpen))
    }
    for name in ["Anna", "Berta"] {
      let number = try await request(by: anna)
      try await change("UPDATE account SET disabled_at = 1 WHERE name = '\(name)'")
      for decision in [Proposal.Decision.approved, .rejected] {
        #expect(try await store.decide(number, decision, by: berta) == .notOpen, "\(name)")
      }
      try await change("UPDATE account SET disabled_at = NULL")
      #expect(try await store.decide(number, .approved, by: berta) == .decided)
    }
  }

  @Test(
    "Nobody decides a request about the own account, and its circle does not prevent that it is disabled"
  )
  func concerned() async throws {
    let (anna, berta) = (try await account("Anna"), try await account("Berta"))
    let cara = try await account("Cara")
    let number = try await request(.disableAccount(account: "Berta"), by: anna, about: berta)
    for decision in [Proposal.Decision.approved, .rejected] {
      #expect(try await store.decide(number, decision, by: berta) == .concernsActor)
    }
    try await change("UPDATE account SET circle = \(berta.circle) WHERE name = 'Cara'")
    #expect(try await store.decide(number, .rejected, by: cara) == .concernsActor)
    #expect(try await store.decide(number, .approved, by: cara) == .decided)
  }

  @Test("A document that is not the one of its audit entry is rejected, but not approved")
  func altered() async throws {
    let (anna, berta) = (try await account("Anna"), try await account("Berta"))
    let number = try await request(by: anna)
    try await change("UPDATE proposal SET document = replace(document, 'keys', 'verification')")
    #expect(try await store.decide(number, .approved, by: berta) == .altered)
    #expect(try await store.decide(number, .rejected, by: berta) == .decided)
  }
}
