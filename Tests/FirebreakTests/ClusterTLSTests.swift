// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

/// `firebreak serve` with a database behind TLS.
@Suite("Servers with a database behind TLS", .needs(.process)) struct ClusterTLSTests {
  @Test("Servers verify the certificate of the database, and do not start with a wrong name")
  func verified() async throws {
    let cluster = try await PrivatePostgreSQL(tlsName: "db1.example.org")
    for server in ["verification", "keys", "console"] {
      try await cluster.createDatabase("firebreak_\(server)")
    }
    let tls = try #require(cluster.tls)
    let address = tls.address() + " connect_timeout=60"
    let authority = try await ServedAuthority(environment: ["DATABASE_URL": address])
    #expect(try await authority.upload(token: try await authority.token()).status == 200)
    #expect(try await authority.servers.stop() == 0)
    let wrong = try await Run(
      ["serve", "--port", "0", "--data", authority.servers.data],
      environment: ["DATABASE_URL": tls.address(name: "db2.example.org") + " connect_timeout=60"])
    #expect(wrong.status == 3, "\(wrong.errors)")
    #expect(
      wrong.errors.contains("would not be secure") && wrong.errors.contains("Use a name of the"),
      "\(wrong.errors)")
    #expect(!wrong.errors.contains("did not answer"))
  }

  @Test("A connection that pg_hba.conf rejects is not called insecure; the remedy names the file")
  func rejected() async throws {
    let cluster = try await PrivatePostgreSQL(tlsName: "db1.example.org")
    try await cluster.requireTLS()
    let (folder, port) = (try TemporaryFolder(), try #require(cluster.tls).port)
    let start: @Sendable () async throws -> Run = {
      try await Run(
        ["serve", "--port", "0", "--data", folder.path("data").path],
        environment: [
          "DATABASE_URL":
            "host=127.0.0.1 port=\(port) user=postgres sslmode=disable connect_timeout=60"
        ])
    }
    try await Patience.until { try await start().errors.contains("no encryption") }
    let refused = try await start()
    #expect(refused.status == 3, "\(refused.errors)")
    #expect(refused.errors.contains("Add a line for this host"), "\(refused.errors)")
    #expect(!refused.errors.contains("would not be secure"), "\(refused.errors)")
  }
}
