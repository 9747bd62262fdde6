// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import ServedSystem
import ServerStorage
import TestSupport
import Testing
import VerificationServer

@Suite("The clock of the servers", .needs(.process))
struct ServerClockTests {
  @Test(
    "A server that starts days after its newest stored time warns on stderr until a confirmation")
  func confirmed() async throws {
    let served = try await ServedAuthority()
    #expect(try await served.servers.stop() == 0)
    #expect(try !served.servers.errors().contains("expected time"))
    let servers = [
      ("key-server", "data/keys/keys.sqlite", KeyServer.databaseSchema),
      (
        "verification-server", "data/verification/verification.sqlite",
        VerificationServer.databaseSchema
      ),
    ]
    for (server, database, schema) in servers {
      #expect(try await served.run(server, "clock").status == 0)
      // As if the machine's clock was wrong when the servers ran, or is now.
      try ServerState.confirm(
        Date(timeIntervalSince1970: 1_600_000_000), in: served.folder.path(database),
        schema: schema)
      let run = try await served.run(server, "clock", "--json")
      #expect(run.status == 1 && run.errors.contains("--confirm"))
      #expect(try run.json()?["newest"] as? Int == 1_600_000_000)
    }
    let again = try await ServedFirebreak(folder: served.folder)
    _ = try await again.addresses()
    try await Patience.until {
      try again.errors().split(separator: "\n").count { $0.contains("clock --confirm") } >= 2
    }
    #expect(try await again.stop() == 0)
    let warnings = try again.errors().split(separator: "\n")
    #expect(warnings.count { $0.contains("clock --confirm") } >= 2)
    for (server, _, _) in servers {
      #expect(try await served.run(server, "clock", "--confirm").status == 0)
      #expect(try await served.run(server, "clock").status == 0)
    }
    try await confirmAll(servers, of: served)
    let last = try await ServedFirebreak(folder: served.folder)
    _ = try await last.addresses()
    #expect(try await last.stop() == 0)
    #expect(try !last.errors().contains("expected time"))
  }

  /// One command confirms the clock of all servers, twice.
  private func confirmAll(
    _ servers: [(String, String, DatabaseSchema)],
    of served: ServedAuthority
  ) async throws {
    for _ in 0..<2 {
      for (_, database, schema) in servers {
        try ServerState.confirm(
          Date(timeIntervalSince1970: 1_600_000_000), in: served.folder.path(database),
          schema: schema)
      }
      let off = try await served.run("clock", "--json")
      #expect(off.status == 1 && off.errors.contains("--confirm"))
      let reports = try #require(try off.json()?["servers"] as? NSDictionary)
      for name in ["keys", "verification"] {
        #expect((reports[name] as? NSDictionary)?["isPlausible"] as? Bool == false, "\(name)")
      }
      #expect(try await served.run("clock", "--confirm").status == 0)
      #expect(try await served.run("clock").status == 0)
    }
  }
}
