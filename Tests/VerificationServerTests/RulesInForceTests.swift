// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import VerificationAPI
import World

@testable import VerificationServer

/// Rules for codes that change while the server runs.
@Suite("Change of rules for codes at run time")
struct RulesInForceTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The rules in the operator's file; nil if it cannot be read.
  private final class Known: Sendable {
    private let rules = Mutex<IssueRules?>(
      IssueRules(
        pinLifetime: 1_800, shortCodeDigits: 8, shortCodeLifetime: 900, longCodeLifetime: 86_400,
        requiresDate: false))

    func change(_ change: (inout IssueRules) -> Void) {
      rules.withLock { rules in
        guard var new = rules else { return }
        change(&new)
        rules = new
      }
    }

    func lose() { rules.withLock { $0 = nil } }

    func read() throws -> IssueRules {
      guard let rules = rules.withLock({ $0 }) else { throw CocoaError(.fileReadNoSuchFile) }
      return rules
    }
  }

  private func run(_ known: Known, _ test: (RunningServer) async throws -> Void) async throws {
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.readIssueRules = { try known.read() }
        $0.sms = SMSConfiguration(sender: CollectedSMS(), region: "PL", template: "[enslink]")
      }
    ) { server async throws in
      try await test(server)
    }
  }

  /// The time until the codes before have ended. While several are valid, new ones are longer.
  private static let codesEnd: TimeInterval = 901

  /// The seconds for which the code and its link are valid, and the characters of the code.
  private func rules(_ server: RunningServer, pin: Bool = false) async throws -> [Int64] {
    let form = pin ? #""codeForm":"pin","# : ""
    let issued = try await server.issue(
      #"{\#(form)"testType":"confirmed","phone":"+48123456789"}"#)
    let now = server.clock.now.unixSecond
    return [
      issued.expiresAtTimestamp - now, (issued.longExpiresAtTimestamp ?? now) - now,
      Int64(issued.code.utf8.count),
    ]
  }

  @Test("The next code has the new rules within seconds, and codes issued before keep theirs")
  func changed() async throws {
    let known = Known()
    try await run(known) { server async throws in
      let before = try await server.issue()
      #expect(try await rules(server) == [900, 86_400, 8])
      known.change {
        ($0.pinLifetime, $0.shortCodeLifetime, $0.longCodeLifetime) = (600, 300, 3_600)
        $0.shortCodeDigits = 10
      }
      server.clock.advance(by: VerificationLimit.signingKeysAgeSecondsMax)
      #expect(try await rules(server) == [300, 3_600, 10])
      #expect(try await rules(server, pin: true).first == 600)
      server.clock.advance(by: 800)
      #expect(try await server.verify(before.code).status == 200)
      // A second change.
      known.change { $0.requiresDate = true }
      server.clock.advance(by: VerificationLimit.signingKeysAgeSecondsMax)
      let refused = try await server.admin(VerificationRoute.issue, #"{"testType":"confirmed"}"#)
      #expect(refused.refusal == "400 missing_date")
    }
  }

  @Test(
    "Rules that cannot be read, are not valid or outlive a token have no effect, and the log says so"
  )
  func refused() async throws {
    let known = Known()
    try await run(known) { server async throws in
      let changes: [(inout IssueRules) -> Void] = [
        { $0.pinLifetime = 1_801 }, { $0.shortCodeDigits = 5 }, { $0.longCodeLifetime = 86_401 },
        { $0.shortCodeLifetime = 59 },
      ]
      for (number, change) in changes.enumerated() {
        let good = try known.read()
        known.change(change)
        server.clock.advance(by: Self.codesEnd)
        #expect(try await rules(server) == [900, 86_400, 8], "\(number)")
        known.change { $0 = good }
      }
      known.lose()
      server.clock.advance(by: Self.codesEnd)
      #expect(try await rules(server) == [900, 86_400, 8])
      let lines = server.log.lines.filter { $0.contains("rules for codes failed") }
      #expect(lines.count == 5 && lines.allSatisfy { $0.contains("check the settings") })
    }
  }
}
