// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

@testable import HealthAuthorityConsole

/// The approval of a remote configuration by a second person.
@Suite struct TwoPeopleTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static func fields(_ score: String) throws -> [String: String] {
    let document = String(
      decoding: try JSONEncoder().encode(RemoteConfiguration(version: 3)), as: UTF8.self)
    return ["document": document.replacing("1499", with: score), "reason": "x"]
  }

  @Test("An administrator cannot approve with an account whose link the administrator made")
  func ownLink() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let administrator = try await console.signedIn(.administrator)
      let anna = try await console.signedIn(
        .epidemiologist, name: "Anna", invitedBy: administrator)
      let berta = try await console.signedIn(
        .epidemiologist, name: "Berta", invitedBy: administrator)
      _ = try await administrator.post("/configuration/propose", try Self.fields("1400"))
      _ = try await anna.post("/configuration/propose", try Self.fields("1300"))
      // The requests for the two accounts have the first numbers.
      for (browser, proposal) in [(anna, 3), (berta, 4), (administrator, 4)] {
        #expect(try await !browser.get("/configuration").text.contains("approve-\(proposal)"))
        let page = try await browser.post("/configuration/\(proposal)/approve", [:])
        #expect(page.status == 422 && page.element("fault")?.contains("one person") == true)
      }
      #expect(console.authority.state.configuration.version == 3)
      let other = try await console.signedIn(.epidemiologist, name: "Cara")
      #expect(try await other.post("/configuration/4/approve", [:]).status == 200)
      #expect(console.authority.state.configuration.version == 4)
    }
  }

  @Test("An administrator cannot approve with an account that an invited administrator has invited")
  func linkOfLink() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let administrator = try await console.signedIn(.administrator)
      let second = try await console.signedIn(
        .administrator, name: "Anna", invitedBy: administrator)
      let third = try await console.signedIn(.epidemiologist, name: "Berta", invitedBy: second)
      _ = try await administrator.post("/configuration/propose", try Self.fields("1400"))
      let page = try await third.post("/configuration/3/approve", [:])
      #expect(page.status == 422 && page.element("fault")?.contains("one person") == true)
      #expect(console.authority.state.configuration.version == 3)
    }
  }

  @Test("An account that was recovered by an administrator counts as that administrator's")
  func recovered() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let administrator = try await console.signedIn(.administrator)
      let anna = try await console.signedIn(.epidemiologist, name: "Anna")
      _ = try await anna.post("/configuration/propose", try Self.fields("1400"))
      let link = try await console.change("/accounts/2/link", approvedBy: administrator)
      let path = try #require(link.linkPath)
      let generator = try #require(try await administrator.get(path).generator)
      let code = generator.code(step: CodeGenerator.step(at: console.clock.now.unixSecond))
      let browser = console.browser()
      let password = "correct horse battery"
      let taken = try await browser.post(path, ["password": password, "code": code])
      #expect(taken.status == 200)
      let withdrawn = try await administrator.post("/configuration/1/approve", [:])
      #expect(withdrawn.status == 404, "the proposal from before has ended")
      console.clock.advance(by: 30)
      let next = generator.code(step: CodeGenerator.step(at: console.clock.now.unixSecond))
      let signIn = try await browser.post(
        "/sign-in", ["name": "Anna", "password": password, "code": next])
      #expect(signIn.status == 303)
      _ = try await browser.post("/configuration/propose", try Self.fields("1400"))
      // The request for the link has the number 2.
      let page = try await administrator.post("/configuration/3/approve", [:])
      #expect(page.status == 422 && page.element("fault")?.contains("one person") == true)
    }
  }

  @Test("Of two proposals that are approved at once, one comes into force")
  func atOnce() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.epidemiologist, name: "Anna")
      let others = [
        try await console.signedIn(.epidemiologist, name: "Berta"),
        try await console.signedIn(.epidemiologist, name: "Cara"),
      ]
      for score in ["1300", "1400"] {
        _ = try await anna.post("/configuration/propose", try Self.fields(score))
      }
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for (index, browser) in others.enumerated() {
          group.addTask {
            try await browser.post("/configuration/\(index + 1)/approve", [:]).status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.sorted() == [200, 422])
      #expect(console.authority.state.configuration.version == 4)
      let page = try await anna.get("/configuration").text
      #expect(page.contains("The configuration was changed since"))
    }
  }

  @Test("A configuration that another program replaced meanwhile leaves the proposal open")
  func changedMeanwhile() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.epidemiologist, name: "Anna")
      let berta = try await console.signedIn(.epidemiologist, name: "Berta")
      _ = try await anna.post("/configuration/propose", try Self.fields("1400"))
      console.authority.state.replaceFailure = .changed
      let page = try await berta.post("/configuration/1/approve", [:])
      #expect(page.status == 422 && page.element("fault")?.contains("changed since") == true)
      #expect(console.authority.state.configuration.version == 3)
      #expect(try await berta.get("/configuration").text.contains("approve-1"))
    }
  }

  @Test("A server that stores the configuration and then fails has put it in force")
  func storedAndFailed() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.epidemiologist, name: "Anna")
      let berta = try await console.signedIn(.epidemiologist, name: "Berta")
      _ = try await anna.post("/configuration/propose", try Self.fields("1400"))
      console.authority.state.replaceFailure = .unavailable
      console.authority.state.storesBeforeFailure = true
      let page = try await berta.post("/configuration/1/approve", [:])
      #expect(page.element("notice") == "The configuration is in force.")
      #expect(page.text.contains("approved by Berta"))
    }
  }

  @Test("A pause ends by the clock of the servers, also if that of the officials is another")
  func serviceClock() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.administrator)
      console.serviceClock.advance(by: 864_000)
      #expect(try await browser.ask("/phones/pause", ["hours": "2"], when: "now").status == 303)
      #expect(console.authority.state.pause?.until == 1_800_871_200)
      #expect(try await browser.get("/phones").text.contains("paused until 2027-01-25 11:00 CET"))
    }
  }
}
