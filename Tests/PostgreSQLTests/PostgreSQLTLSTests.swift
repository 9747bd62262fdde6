// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import TestSupport
import Testing

@testable import PostgreSQL

/// TLS to real servers, whose certificates are of names that no resolver knows.
@Suite("PostgreSQL: TLS", .needs(.process)) struct PostgreSQLTLSTests {
  private static func database(_ address: String) throws -> PostgreSQLDatabase {
    var address = try PostgreSQLAddress(address)
    address.timeFactor = 20
    return PostgreSQLDatabase(
      address, connections: 1, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  /// A busy machine may need longer to connect.
  private static let patient = " connect_timeout=60"

  private static func tls(of server: PrivatePostgreSQL) throws -> DatabaseTLS {
    try #require(server.tls)
  }

  /// The message of one attempt to connect; empty if it succeeds.
  private static func failure(_ address: String) throws -> String {
    let database = try database(address + patient)
    do {
      return try database.blockingTransaction(seconds: 10) {
        _ = try $0.run("SELECT 1")
        return ""
      }
    } catch let error as PostgreSQLError {
      #expect(error.kind == .unavailable)
      return error.message
    }
  }

  @Test("A certificate is verified with its name; each fault is one error with a remedy of its own")
  func verified() async throws {
    let server = try await PrivatePostgreSQL(tlsName: "db1.example.org")
    let tls = try Self.tls(of: server)
    let isEncrypted = try await Self.database(tls.address() + Self.patient).transaction {
      try $0.run("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").bool(0, 0)
    }
    #expect(isEncrypted)
    let folder = try TemporaryFolder()
    let other = try await PrivatePostgreSQL(tlsName: "db1.example.org")
    let messages = [
      PostgreSQLTLSFault.otherName: try Self.failure(tls.address(name: "db2.example.org")),
      .noAuthorities: try Self.failure(tls.address(root: folder.path("missing.crt"))),
      .notTrusted: try Self.failure(
        tls.address(root: try Self.tls(of: other).certificate)),
    ]
    for (fault, message) in messages {
      #expect(PostgreSQLTLSFault(in: message) == fault, "\(message)")
    }
  }

  @Test(
    "A server without TLS is refused if it is required, and one that requires it refuses others")
  func required() async throws {
    let plain = try await PrivatePostgreSQL(tlsName: "db1.example.org", offersTLS: false)
    let message = try Self.failure(try Self.tls(of: plain).address())
    #expect(PostgreSQLTLSFault(in: message) == .notOffered, "\(message)")
    let server = try await PrivatePostgreSQL(tlsName: "db1.example.org")
    try await server.requireTLS()
    let port = try Self.tls(of: server).port
    let open = "host=127.0.0.1 port=\(port) user=postgres sslmode=disable"
    try await Patience.until { PostgreSQLTLSFault(in: try Self.failure(open)) == .notUsed }
    #expect(PostgreSQLTLSFault(in: "connection refused") == nil)
  }

  @Test("A host without a line in pg_hba.conf is no fault of TLS if TLS was tried as well")
  func noRule() async throws {
    let server = try await PrivatePostgreSQL(tlsName: "db1.example.org")
    try await server.requireTLS(from: "192.0.2.0/24")
    let address = "host=127.0.0.1 port=\(try Self.tls(of: server).port) user=postgres"
    try await Patience.until { try Self.failure(address).contains(", SSL encryption") }
    let message = try Self.failure(address)
    #expect(message.contains(", no encryption"), "\(message)")
    #expect(PostgreSQLTLSFault(in: message) == nil, "\(message)")
  }

  @Test(
    "Of several hosts with TLS the one that accepts changes is used, before and after a promotion",
    .timeLimit(.minutes(Patience.minutes)))
  func hosts() async throws {
    let primary = try await PrivatePostgreSQL(tlsName: "db1.example.org")
    let standby = try await PrivatePostgreSQL(follow: primary, tlsName: "db2.example.org")
    let (first, second) = (try Self.tls(of: primary), try Self.tls(of: standby))
    let folder = try TemporaryFolder()
    let authorities = folder.path("authorities.crt")
    let both = try [first, second].map { try Data(contentsOf: $0.certificate) }
    try Data(both.joined()).write(to: authorities)
    // The standby comes first, and is not used.
    let database = try Self.database(
      "host=\(second.name),\(first.name) hostaddr=127.0.0.1,127.0.0.1 port=\(second.port),\(first.port)"
        + " user=postgres sslmode=verify-full sslrootcert=\(authorities.path)" + Self.patient)
    let port: @Sendable () async throws -> Int64? = {
      try await database.transaction {
        try $0.run("SELECT inet_server_port()::bigint").firstInteger
      }
    }
    #expect(try await port() == Int64(first.port))
    _ = try await database.transaction { try $0.run("CREATE TABLE t (a bigint)").count }
    try await primary.kill()
    try await standby.promote()
    #expect(try await port() == Int64(second.port))
    #expect(try await database.transaction { try $0.run("SELECT FROM t").count } == 0)
  }
}
