import Foundation
import TestSupport
import Testing

/// Documentation/Serving.md 11 and 12: what is set is what the servers do.
@Suite("Settings, at the servers as they are started")
struct ServedSettingsTests {
  @Test("Codes are made and taken as the policy says")
  func policy() async throws {
    let authority = try await ServedAuthority([
      "verification/settings.json": """
      {"policy": {"shortCodeDigits": 6, "shortCodeLifetime": 120, "testTypes": ["confirmed"],
        "requiresDate": true, "allowsBatchIssue": false},
       "attempts": {"issuesPerApiKey": 2}}
      """
    ])
    let admin = ["X-API-Key": try authority.apiKey("admin")]
    func issue(_ body: String) throws -> ServedAuthority.Answer {
      try authority.post("\(authority.verification)/api/issue", body, headers: admin)
    }
    #expect(try issue(#"{"testType":"confirmed"}"#).code == "missing_date")
    #expect(try issue(#"{"testType":"likely"}"#).code == "unsupported_test_type")
    let today = try Shell.run("date -u +%F").output.trimmingCharacters(in: .whitespacesAndNewlines)
    let order = #"{"testType":"confirmed","testDate":"\#(today)","tzOffset":0}"#
    let now = try #require(Int(try Shell.run("date +%s").output.prefix(10)))
    let issued = try issue(order)
    #expect((issued.json["code"] as? String)?.count == 6)
    let end = try #require(issued.json["expiresAtTimestamp"] as? Int)
    #expect((100...140).contains(end - now))
    let batch = try authority.post(
      "\(authority.verification)/api/batch-issue", #"{"codes":[\#(order)]}"#, headers: admin)
    #expect(batch.status == 400)
    #expect(try issue(order).status == 200)
    #expect(try issue(order).status == 429)
  }

  @Test("Attempts are counted by the client's address where a trusted proxy names it")
  func proxies() async throws {
    let authority = try await ServedAuthority([
      "verification/settings.json":
        #"{"attempts": {"perAddress": 1}, "trustedProxies": ["127.0.0.0/8"]}"#,
      "keys/settings.json": #"{"uploadAttempts": 1, "trustedProxies": ["127.0.0.1"]}"#,
    ])
    func statuses(_ ask: ([String: String]) throws -> Int) throws -> [Int] {
      try ["192.0.2.1", "192.0.2.1", "192.0.2.2"].map { try ask(["X-Forwarded-For": $0]) }
    }
    let codes = try statuses {
      try authority.post(
        "\(authority.verification)/getAccessToken", #"{"data":{"code":"ZZZZZ1"}}"#, headers: $0
      ).status
    }
    #expect(codes == [404, 429, 404])
    let uploads = try statuses { try authority.upload(token: "none", headers: $0).status }
    #expect(uploads == [401, 429, 401])
  }

  @Test("Only who is in the networks that are set is answered, a proxy's client by its own address")
  func netmasks() async throws {
    let authority = try await ServedAuthority([
      "verification/settings.json": """
      {"trustedProxies": ["127.0.0.1"], "applicationNetmasks": ["192.0.2.0/25", "2001:db8::/32"],
       "operatorNetmasks": ["192.0.2.1"]}
      """
    ])
    let admin = try authority.apiKey("admin")
    for (address, token, code) in [
      ("192.0.2.1", 404, 200), ("192.0.2.127", 404, 401), ("192.0.2.128", 403, 401),
      ("2001:db8::1", 404, 401), ("2001:db9::1", 403, 401),
    ] {
      let from = ["X-Forwarded-For": address]
      let redeemed = try authority.post(
        "\(authority.verification)/getAccessToken", #"{"data":{"code":"ZZZZZ1"}}"#, headers: from)
      let issued = try authority.post(
        "\(authority.verification)/api/issue", #"{"testType":"confirmed"}"#,
        headers: from.merging(["X-API-Key": admin]) { $1 })
      #expect((redeemed.status, issued.status) == (token, code), "\(address)")
    }
  }

  @Test("Maintenance, the origin of browser pages, regions, apps and exports are as they are set")
  func others() async throws {
    let authority = try await ServedAuthority([
      "verification/settings.json":
        #"{"policy": {"isInMaintenance": true}, "allowedOrigin": "https://app.example"}"#,
      "keys/settings.json": """
      {"region": "CZ", "regions": ["CZ", "PL"], "appPackages": ["org.example"],
       "deviceVerificationPlatforms": [], "allowedOrigin": "https://app.example",
       "furtherExports": [{"filenameRoot": "eu", "region": "CZ"}],
       "remoteConfiguration": {"version": 9}}
      """,
    ])
    let device = ["X-API-Key": try authority.apiKey("device"), "Origin": "https://app.example"]
    let closed = try authority.post(
      "\(authority.verification)/api/verify", #"{"code":"12345678"}"#, headers: device)
    #expect((closed.status, closed.code) == (429, "maintenance_mode"))
    #expect(closed.headers.contains("access-control-allow-origin: https://app.example"))
    let token = try authority.token()
    let stranger = try authority.upload(token: token, proves: false)
    #expect(stranger.status == 403)
    let taken = try authority.upload(
      token: token, proves: false, app: "org.example",
      headers: ["Origin": "https://app.example"])
    #expect(taken.status == 200)
    #expect(taken.headers.contains("access-control-allow-origin: https://app.example"))
    #expect(try await authority.servers.get(authority.keys, "/eu/index.txt").status == 200)
    #expect(try await authority.servers.get(authority.keys, "/CZ/index.txt").status == 404)
    let page = try await authority.servers.get(authority.keys, "/remote-configuration.json")
    let document = try JSONSerialization.jsonObject(with: page.body) as? [String: Any]
    let payload = try #require(Data(base64Encoded: document?["payload"] as? String ?? ""))
    let told = try JSONSerialization.jsonObject(with: payload) as? [String: Any]
    #expect(told?["version"] as? Int == 9)
    #expect(try await authority.servers.stop() == 0)
  }
}
