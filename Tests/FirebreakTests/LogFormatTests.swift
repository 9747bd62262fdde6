// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServedSystem
import TestSupport
import Testing

@Suite("firebreak serve --log-format json", .needs(.process))
struct LogFormatTests {
  @Test(
    "Each line of stderr is a JSON object, with the identity that the proxy gave to the request")
  func json() async throws {
    let settings = #"{"logLevel":"info","trustedProxies":["127.0.0.1"]}"#
    let authority = try await ServedAuthority(
      ["verification/settings.json": settings], arguments: ["--log-format", "json"])
    let response = try await authority.post(
      "\(authority.verification)/api/verify", "{}", headers: ["X-Request-ID": "from-the-proxy"])
    #expect(response.status >= 400)
    var lines: [String] = []
    try await Patience.until {
      lines = try authority.servers.errors().split(separator: "\n").map(String.init)
      return lines.contains { $0.contains("POST /api/verify") }
    }
    let entries = try lines.map { line in
      try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String], "\(line)")
    }
    let named = entries.filter { $0["request"] == "from-the-proxy" }
    #expect(named.contains { $0["message"]?.hasPrefix("refused /api/verify") == true })
    #expect(named.contains { $0["message"]?.hasPrefix("POST /api/verify") == true })
    #expect(entries.allSatisfy { $0["level"] != nil && $0["time"]?.hasSuffix("Z") == true })
    #expect(!lines.contains { $0.contains("127.0.0.1") })
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("A warning of a running server is an entry of the log, too")
  func warning() async throws {
    let authority = try await ServedAuthority(arguments: ["--log-format", "json"])
    let path = KeyServerRoute.deviceConfiguration
    #expect(try await authority.servers.get(authority.keys, path).status == 200)
    try FileManager.default.removeItem(
      at: authority.folder.path("data/keys/device-configuration.json"))
    #expect(try await authority.servers.get(authority.keys, path).status == 200)
    let entries = try authority.servers.errors().split(separator: "\n").map { line in
      try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String], "\(line)")
    }
    let warning = entries.first {
      $0["message"]?.hasPrefix("The previous device configuration is served") == true
    }
    #expect(warning?["level"] == "warning", "\(entries)")
    #expect(warning?["source"] == "firebreak")
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("A remark about a file of the settings is an entry of the log, also at a reload")
  func remark() async throws {
    let made = try await Shell.run("openssl ecparam -name prime256v1 -genkey -noout")
    let settings =
      #"{"sms":{"region":"PL","file":"texts","signing":{"keyID":"a","keyFile":"two.pem"}}}"#
    let authority = try await ServedAuthority(
      ["verification/settings.json": settings, "verification/two.pem": made.output + made.output],
      arguments: ["--log-format", "json"])
    func remarks() throws -> [[String: String]] {
      try authority.servers.errors().split(separator: "\n").map { line in
        try #require(
          try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String], "\(line)")
      }.filter { $0["message"]?.hasSuffix("has 2 keys: only the first one is used.") == true }
    }
    let before = try remarks()
    #expect(!before.isEmpty && before.allSatisfy { $0["level"] == "warning" })
    authority.servers.send(SIGHUP)
    try await Patience.until { try remarks().count > before.count }
    #expect(try await authority.servers.stop() == 0)
  }

  @Test(
    "The error that ends the command is an entry of the log, too",
    arguments: [
      ["--log-format", "json"], ["--log-format=json"], ["--json", "--log-format", "json"],
    ])
  func ended(options: [String]) async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.write(["keys/settings.json": #"{"region":5}"#], in: folder)
    for (more, fault) in [([], "region must be"), (["--port", "many"], "--port takes")] {
      let run = try await Run(
        ["serve", "--data", folder.path("data").path] + options + more)
      let entry = try JSONSerialization.jsonObject(with: Data(run.errors.utf8)) as? [String: String]
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(entry?["message"]?.contains(fault) == true, "\(run.errors)")
      #expect(entry?["level"] == "critical" && entry?["source"] == "firebreak")
    }
  }

  @Test("Another format is refused in one line")
  func refused() async throws {
    let folder = try TemporaryFolder()
    let run = try await Run(
      "serve", "--log-format", "xml", "--data", folder.path("data").path, "--port", "0")
    #expect(run.status == 2 && run.errors.split(separator: "\n").count == 1, "\(run.errors)")
  }
}
