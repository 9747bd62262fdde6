// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import HealthAuthorityConsole

/// The rules of two people in the transaction of a decision, whatever the pages have checked before.
@Suite struct ProposalStoreTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test(
    "The author approves no request, nor does an account of the same circle, but both reject it",
    arguments: ConsoleEngine.allCases)
  func independent(engine: ConsoleEngine) async throws {
    let scene = try await ConsoleScene(engine, in: folder)
    let (anna, berta) = (try await scene.account("Anna"), try await scene.account("Berta"))
    try await scene.change("UPDATE account SET circle = \(anna.circle) WHERE name = 'Berta'")
    for actor in [anna, berta] {
      let number = try await scene.request(by: anna)
      // The session of the actor may be older than the circle.
      #expect(try await scene.proposals.decide(number, .approved, by: actor) == .notIndependent)
      #expect(try await scene.proposals.decide(number, .rejected, by: actor) == .decided)
    }
    let cara = try await scene.account("Cara")
    let number = try await scene.request(by: anna)
    #expect(try await scene.proposals.decide(number, .approved, by: cara) == .decided)
    for decision in [Proposal.Decision.approved, .rejected] {
      #expect(try await scene.proposals.decide(number, decision, by: cara) == .notOpen)
    }
  }

  @Test(
    "An expired request, one of a disabled author and one that a disabled account decides stay undecided",
    arguments: ConsoleEngine.allCases)
  func open(engine: ConsoleEngine) async throws {
    let scene = try await ConsoleScene(engine, in: folder)
    let (anna, berta) = (try await scene.account("Anna"), try await scene.account("Berta"))
    for seconds in [ConsoleLimit.changeSeconds - 1, ConsoleLimit.changeSeconds] {
      let number = try await scene.request(by: anna)
      scene.clock.advance(by: Double(seconds))
      let outcome = try await scene.proposals.decide(number, .approved, by: berta)
      #expect(outcome == (seconds < ConsoleLimit.changeSeconds ? .decided : .notOpen))
    }
    for name in ["Anna", "Berta"] {
      let number = try await scene.request(by: anna)
      try await scene.change("UPDATE account SET disabled_at = 1 WHERE name = '\(name)'")
      for decision in [Proposal.Decision.approved, .rejected] {
        let outcome = try await scene.proposals.decide(number, decision, by: berta)
        #expect(outcome == .notOpen, "\(name)")
      }
      try await scene.change("UPDATE account SET disabled_at = NULL")
      #expect(try await scene.proposals.decide(number, .approved, by: berta) == .decided)
    }
  }

  @Test(
    "Nobody decides a request about the own account, and its circle does not prevent that it is disabled",
    arguments: ConsoleEngine.allCases)
  func concerned(engine: ConsoleEngine) async throws {
    let scene = try await ConsoleScene(engine, in: folder)
    let (anna, berta) = (try await scene.account("Anna"), try await scene.account("Berta"))
    let cara = try await scene.account("Cara")
    let number = try await scene.request(.disableAccount(account: "Berta"), by: anna, about: berta)
    for decision in [Proposal.Decision.approved, .rejected] {
      #expect(try await scene.proposals.decide(number, decision, by: berta) == .concernsActor)
    }
    try await scene.change("UPDATE account SET circle = \(berta.circle) WHERE name = 'Cara'")
    #expect(try await scene.proposals.decide(number, .rejected, by: cara) == .concernsActor)
    #expect(try await scene.proposals.decide(number, .approved, by: cara) == .decided)
  }

  @Test(
    "A document that is not the one of its audit entry is rejected, but not approved",
    arguments: ConsoleEngine.allCases)
  func altered(engine: ConsoleEngine) async throws {
    let scene = try await ConsoleScene(engine, in: folder)
    let (anna, berta) = (try await scene.account("Anna"), try await scene.account("Berta"))
    let number = try await scene.request(by: anna)
    try await scene.change(
      "UPDATE proposal SET document = replace(document, 'keys', 'verification')")
    #expect(try await scene.proposals.decide(number, .approved, by: berta) == .altered)
    #expect(try await scene.proposals.decide(number, .rejected, by: berta) == .decided)
  }
}
