// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TextEncodings

@testable import VerificationServer

/// The links of texts on phones.
@Suite struct SMSLinkTests {
  private static let code = "abcdefghij123456"
  private static let fingerprint = Array(repeating: "A0", count: 32).joined(separator: ":")
  private static let android = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36"
  private static let iPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X)"

  private static func targets(page: String? = "https://app.example/") -> SMSLinkTargets {
    var targets = SMSLinkTargets()
    targets.appleApps = ["AB12CD34EF.org.example.app"]
    targets.androidApps = ["org.example.app": fingerprint]
    targets.appPage = page.flatMap { URL(string: $0) }
    return targets
  }

  @Test("The server names the apps of its links and redirects phones without the app")
  func routes() async throws {
    let folder = try TemporaryFolder()
    try await RunningServer.run(
      in: folder.url,
      configure: {
        $0.sms = SMSConfiguration(sender: CollectedSMS(), region: "PL")
        $0.sms?.links = Self.targets()
      }
    ) { server async throws in
      func get(_ path: String, agent: String = "") async throws -> LoopbackClient.Response {
        try await LoopbackClient.send(
          "GET", "http://127.0.0.1:\(server.port)\(path)", headers: [("user-agent", agent)])
      }
      let apple = try await get("/.well-known/apple-app-site-association")
      #expect(apple.status == 200)
      #expect(apple.headers["content-type"]?.hasPrefix("application/json") == true)
      #expect(
        apple.text == """
          {"applinks":{"apps":[],"details":[{"appID":"AB12CD34EF.org.example.app","paths":["/v","/v/*"]}]}}
          """)
      let assets = try await get("/.well-known/assetlinks.json")
      #expect(
        assets.text == """
          [{"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app",\
          "package_name":"org.example.app","sha256_cert_fingerprints":["\(Self.fingerprint)"]}}]
          """)
      let link = try await get("/v?c=\(Self.code)", agent: Self.iPhone)
      #expect(link.status == 303 && link.headers["cache-control"] == "no-store")
      #expect(link.headers["location"] == "https://app.example/#c=\(Self.code)")
      #expect(link.headers["referrer-policy"] == "no-referrer")
      for path in ["/v", "/v?c=", "/v?c=AB12CD", "/v?c=abcdefghij12345%22"] {
        #expect(try await get(path).status == 404, "\(path)")
      }
      #expect(!server.log.lines.contains { $0.contains(Self.code) })
    }
  }

  @Test("Without links the server does not answer at their domain")
  func without() async throws {
    let folder = try TemporaryFolder()
    try await RunningServer.run(
      in: folder.url,
      configure: { $0.sms = SMSConfiguration(sender: CollectedSMS(), region: "PL") }
    ) { server async throws in
      for path in ["/v?c=\(Self.code)", "/.well-known/assetlinks.json"] {
        let response = try await LoopbackClient.send(
          "GET", "http://127.0.0.1:\(server.port)\(path)", headers: [])
        #expect(response.status == 404)
      }
    }
  }

  @Test("Android opens the app or the store, Apple's systems the page or the system's own scheme")
  func targets() {
    let routes = SMSLinkRoutes(targets: Self.targets(), region: "PL")
    #expect(
      routes.target(Self.code, agent: Self.android) == """
        intent://v?r=PL&c=\(Self.code)#Intent;scheme=ens;package=org.example.app;\
        action=android.intent.action.VIEW;\
        S.browser_fallback_url=https%3A%2F%2Fapp%2Eexample%2F%23c%3D\(Self.code);end
        """)
    let plain = SMSLinkRoutes(targets: Self.targets(page: nil), region: "PL")
    #expect(plain.target(Self.code, agent: Self.iPhone) == "ens://v?r=PL&c=\(Self.code)")
    #expect(plain.target(Self.code, agent: "curl") == nil)
    #expect(
      plain.target(Self.code, agent: Self.android)?.contains("play%2Egoogle%2Ecom") == true)
  }

  @Test(
    "A malformed app or fingerprint is refused with the field",
    arguments: [
      ("org.example.app", "org.example.app", "A0", false),
      ("AB12CD34EF", "org.example.app", "", false), ("AB12CD34EF.a", "app", "", false),
      ("AB12CD34EF.a", "org.example;end", "", false), ("AB12CD34EF.a-b.c", "a.b_1", "", true),
    ])
  func validation(apple: String, package: String, fingerprint: String, isGood: Bool) {
    var targets = SMSLinkTargets()
    targets.appleApps = [apple]
    targets.androidApps = [package: fingerprint.isEmpty ? Self.fingerprint : fingerprint]
    #expect(((try? targets.validate()) != nil) == isGood)
  }
}
