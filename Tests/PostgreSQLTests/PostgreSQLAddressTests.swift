// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import PostgreSQL

@Suite("PostgreSQL: addresses") struct PostgreSQLAddressTests {
  private static func parameters(_ text: String) throws -> [String: String] {
    let address = try PostgreSQLAddress(text).database("keys")
    let all = address.connectionParameters(statementSeconds: 5)
    return Dictionary(uniqueKeysWithValues: all.map { ($0.keyword, $0.value) })
  }

  @Test(
    "A URL with several hosts keeps them, and the database and the role are those of the server")
  func hosts() throws {
    let all = try Self.parameters("postgresql://a:1,b:2/?sslmode=verify-full")
    #expect(all["host"] == "a,b" && all["port"] == "1,2" && all["sslmode"] == "verify-full")
    #expect(all["dbname"] == "keys" && all["user"] == "keys")
    #expect(all["target_session_attrs"] == "read-write" && all["connect_timeout"] == "3")
    let named = try Self.parameters("postgresql://firebreak@a/other?connect_timeout=10")
    #expect(named["user"] == "firebreak" && named["connect_timeout"] == "10")
  }

  @Test("Settings of the address follow ours")
  func options() throws {
    let all = try Self.parameters("host=a options='-c statement_timeout=7'")
    #expect(all["options"]?.hasSuffix("-c statement_timeout=7") == true)
    #expect(all["options"]?.contains("-c statement_timeout=5000 ") == true)
  }

  @Test(
    "An address that cannot work is refused without quoting it",
    arguments: [
      "", "secret", "mysql://u:secret@a/", "postgresql://u:secret@a:b:c/?x=y",
      "host=secret keepalives=0", "host=secret connect_timeout=1",
      "postgresql://u:secret@a:99999/", "host=secret port=0", "host=secret,b port=5432,many",
      "host=secret connect_timeout=61", "host=secret connect_timeout=soon",
    ])
  func invalid(_ text: String) throws {
    let error = #expect(throws: PostgreSQLAddress.Invalid.self) { try PostgreSQLAddress(text) }
    #expect(error?.description.contains("secret") == false)
  }

  @Test(
    "A port for each host is accepted, also an empty one",
    arguments: ["port=5432,5433", "port='5432, 5433'", "port=5432,", "port=65535", ""])
  func ports(_ text: String) throws {
    let all = try Self.parameters("host=a,b \(text)")
    let ports = String(text.dropFirst("port=".count)).replacing("'", with: "")
    #expect(all["port"] ?? "" == ports)
  }

  @Test("The text of an address has no password")
  func redacted() throws {
    let address = try PostgreSQLAddress("postgresql://u:secret@a/")
    #expect("\(address)" == "PostgreSQLAddress()")
    #expect("\(String(reflecting: address))".contains("secret") == false)
  }
}
