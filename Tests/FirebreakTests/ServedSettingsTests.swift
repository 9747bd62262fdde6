// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("Effects of settings on running servers", .needs(.process))
struct ServedSettingsTests {
  @Test("Codes are issued and accepted according to the policy")
  func policy() async throws {
    let authority = try await ServedAuthority([
      "verification/settings.json": """
      {"policy": {"shortCodeDigits": 6, "shortCodeLifetime": 120, "testTypes": ["confirmed"],
        "requiresDate": true, "allowsBatchIssue": false},
       "attempts": {"issuesPerApiKey": 2, "total": 100}}
      """
    ])
    let admin = ["X-API-Key": try await authority.apiKey("admin")]
    func issue(_ body: String) async throws -> ServedAuthority.Response {
      try await authority.post("\(authority.verification)/api/issue", body, headers: admin)
    }
    #expect(try await issue(#"{"testType":"confirmed"}"#).code == "missing_date")
    #expect(try await issue(#"{"testType":"likely"}"#).code == "unsupported_test_type")
    let today = try await Shell.run("date -u +%F").output.trimmingCharacters(
      in: .whitespacesAndNewlines)
    let order = #"{"testType":"confirmed","testDate":"\#(today)","tzOffset":0}"#
    func now() async throws -> Int {
      try #require(Int(try await Shell.run("date +%s").output.prefix(10)))
    }
    let before = try await now()
    let issued = try await issue(order)
    let after = try await now()
    #expect((issued.json["code"] as? String)?.count == 6)
    let end = try #require(issued.json["expiresAtTimestamp"] as? Int)
    #expect((before + 120...after + 120).contains(end))
    let batch = try await authority.post(
      "\(authority.verification)/api/batch-issue", #"{"codes":[\#(order)]}"#, headers: admin)
    #expect(batch.status == 400)
    #expect(try await issue(order).status == 200)
    #expect(try await issue(order).status == 429)
  }

  @Test("Attempts are counted by the client's address if a trusted proxy names it")
  func proxies() async throws {
    let authority = try await ServedAuthority([
      "verification/settings.json":
        #"{"attempts": {"perAddress": 1}, "trustedProxies": ["127.0.0.0/8"]}"#,
      "keys/settings.json": #"{"uploadAttempts": 1, "trustedProxies": ["127.0.0.1"]}"#,
    ])
    func statuses(_ send: ([String: String]) async throws -> Int) async throws -> [Int] {
      var statuses: [Int] = []
      for address in ["192.0.2.1", "192.0.2.1", "192.0.2.2"] {
        statuses.append(try await send(["X-Forwarded-For": address]))
      }
      return statuses
    }
    let codes = try await statuses {
      try await authority.post(
        "\(authority.verification)/getAccessToken", #"{"data":{"code":"ZZZZZ1"}}"#, headers: $0
      ).status
    }
    #expect(codes == [404, 429, 404])
    let uploads = try await statuses {
      try await authority.upload(token: "none", headers: $0).status
    }
    #expect(uploads == [401, 429, 401])
  }

  @Test("Only clients in the configured networks are served, behind a proxy by their own address")
  func netmasks() async throws {
    let authority = try await ServedAuthority([
      "verification/settings.json": """
      {"trustedProxies": ["127.0.0.1"], "applicationNetmasks": ["192.0.2.0/25", "2001:db8::/32"],
       "operatorNetmasks": ["192.0.2.1"]}
      """
    ])
    let admin = try await authority.apiKey("admin")
    for (address, token, code) in [
      ("192.0.2.1", 404, 200), ("192.0.2.127", 404, 401), ("192.0.2.128", 403, 401),
      ("2001:db8::1", 404, 401), ("2001:db9::1", 403, 401),
    ] {
      let from = ["X-Forwarded-For": address]
      let redeemed = try await authority.post(
        "\(authority.verification)/getAccessToken", #"{"data":{"code":"ZZZZZ1"}}"#, headers: from)
      let issued = try await authority.post(
        "\(authority.verification)/api/issue", #"{"testType":"confirmed"}"#,
        headers: from.merging(["X-API-Key": admin]) { $1 })
      #expect((redeemed.status, issued.status) == (token, code), "\(address)")
    }
  }

  @Test("Maintenance, the allowed origin, regions, apps and exports follow the settings")
  func others() async throws {
    let authority = try await ServedAuthority([
      "verification/settings.json":
        #"{"policy": {"isInMaintenance": true}, "allowedOrigin": "https://app.example"}"#,
      "keys/settings.json": """
      {"region": "CZ", "regions": ["CZ", "PL"], "appPackages": ["org.example"],
       "deviceVerificationPlatforms": [], "allowedOrigin": "https://app.example",
       "furtherExports": [
         {"filenameRoot": "eu", "region": "CZ", "inputRegions": ["CZ", "PL"]}],
       "remoteConfiguration": {"version": 9}}
      """,
    ])
    let device = [
      "X-API-Key": try await authority.apiKey("device"), "Origin": "https://app.example",
    ]
    let closed = try await authority.post(
      "\(authority.verification)/api/verify", #"{"code":"12345678"}"#, headers: device)
    #expect((closed.status, closed.code) == (429, "maintenance_mode"))
    #expect(closed.headers.contains("access-control-allow-origin: https://app.example"))
    let token = try await authority.token()
    let stranger = try await authority.upload(token: token, isVerified: false)
    #expect(stranger.status == 403)
    let taken = try await authority.upload(
      token: token, isVerified: false, app: "org.example",
      headers: ["Origin": "https://app.example"])
    #expect(taken.status == 200)
    #expect(taken.headers.contains("access-control-allow-origin: https://app.example"))
    #expect(try await authority.servers.get(authority.keys, "/eu/index.txt").status == 200)
    #expect(try await authority.servers.get(authority.keys, "/CZ/index.txt").status == 404)
    let page = try await authority.servers.get(authority.keys, "/remote-configuration.json")
    let document = try JSONSerialization.jsonObject(with: page.body) as? [String: Any]
    let payload = try #require(Data(base64Encoded: document?["payload"] as? String ?? ""))
    let configuration = try JSONSerialization.jsonObject(with: payload) as? [String: Any]
    #expect(configuration?["version"] as? Int == 9)
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("Two servers without matching names do not start")
  func oneName() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.write(["verification/settings.json": #"{"issuer": "them"}"#], in: folder)
    let run = try await Run("serve", "--port", "0", "--data", folder.path("data").path)
    #expect(run.status == 2 && run.errors.contains("tokenIssuer"))
    #expect(run.errors.split(separator: "\n").count == 1 && run.output.isEmpty)
    // A refused start creates no secrets.
    #expect(folder.files().map(\.lastPathComponent) == ["settings.json"])
  }
}
