// SPDX-License-Identifier: Apache-2.0
import Foundation
import PWA
import QuietHTTP
import TestSupport
import Testing

@Suite("Requests of other sites and users")
struct RequestGateTests {
  @Test(
    "DNS rebinding: other host names are refused",
    arguments: [
      "evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1",
      "localhost.evil.example:PORT",
      "127.0.0.2:PORT", "0.0.0.0:PORT", "127.0.0.1:PORT.evil.example", "",
    ])
  func rebinding(_ host: String) async throws {
    try await RunningWebsite.with { (site) async throws in
      let host = host.replacingOccurrences(of: "PORT", with: "\(site.port)")
      let headers = site.cookie.merging(["Host": host]) { $1 }
      #expect([400, 421].contains(try await site.send("GET", "/", headers).status))
      #expect([400, 421].contains(try await site.post(#"{"type":61}"#, ["Host": host]).status))
    }
  }

  @Test(
    "The three names of this machine are served", arguments: ["127.0.0.1", "localhost", "[::1]"])
  func names(_ name: String) async throws {
    try await RunningWebsite.with { (site) async throws in
      let host = "\(name):\(site.port)"
      #expect(try await site.send("GET", "/", ["Host": host]).status == 200)
      let own = ["Host": host, "Origin": "http://" + host]
      #expect(try await site.post(#"{"type":61}"#, own).status == 200)
    }
  }

  @Test(
    "Cross-site requests are refused, with and without the secret",
    arguments: [
      ["Origin": "http://evil.example"], ["Origin": "null"], ["Origin": "https://127.0.0.1:PORT"],
      ["Origin": "http://localhost:PORT"], ["Sec-Fetch-Site": "cross-site"],
      ["Sec-Fetch-Site": "same-site"], ["Sec-Fetch-Site": "none"], ["X-Firebreak-Bridge": ""],
      ["X-Firebreak-Bridge": "0"],
    ])
  func crossSite(_ headers: [String: String]) async throws {
    try await RunningWebsite.with { (site) async throws in
      let headers = headers.mapValues { $0.replacingOccurrences(of: "PORT", with: "\(site.port)") }
      #expect(try await site.post(#"{"type":61}"#, headers).status == 403)
    }
  }

  @Test(
    "A form of another site cannot send a message",
    arguments: ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
  func forms(_ type: String) async throws {
    try await RunningWebsite.with { (site) async throws in
      let form = try await site.send(
        "POST", "/firebreak/messages", site.cookie.merging(["Content-Type": type]) { $1 },
        body: #"{"type":61}"#)
      #expect(form.status == 403)
      #expect(try await site.post(#"{"type":61}"#, ["Content-Type": type]).status == 415)
    }
  }

  @Test(
    "Documents and events are not for other sites",
    arguments: ["/", "/firebreak/bridge.js", "/firebreak/events", "/firebreak/open/home"])
  func documents(_ path: String) async throws {
    try await RunningWebsite.with { (site) async throws in
      for value in ["cross-site", "same-site"] {
        let headers = ["Sec-Fetch-Site": value, "Sec-Fetch-Dest": "document"]
        let reply = try await site.send("GET", path, headers.merging(site.cookie) { $1 })
        #expect(reply.status == 403 && reply.headers["set-cookie"] == nil)
      }
    }
  }

  @Test(
    "A link of another page that has the secret opens the app, and one with another secret does not"
  )
  func links() async throws {
    try await RunningWebsite.with { (site) async throws in
      for value in ["same-site", "cross-site"] {
        let headers = ["Sec-Fetch-Site": value, "Sec-Fetch-Dest": "document"]
        let reply = try await site.send("GET", "/?secret=\(site.secret)", headers)
        #expect(reply.status == 200 && reply.text.contains(#"content="0; url=/""#))
        #expect(reply.headers["set-cookie"]?.contains(site.secret) == true)
        for query in ["", "?secret=", "?secret=\(String(site.secret.reversed()))"] {
          let refused = try await site.send("GET", "/" + query, headers)
          #expect(refused.status == 403 && refused.headers["set-cookie"] == nil)
        }
        let framed = headers.merging(["Sec-Fetch-Dest": "iframe"]) { $1 }
        #expect(try await site.send("GET", "/?secret=\(site.secret)", framed).status == 403)
        let post = try await site.send("POST", "/?secret=\(site.secret)", headers)
        #expect(post.status == 403)
      }
    }
  }

  @Test(
    "Framing is refused, and forbidden by headers",
    arguments: ["iframe", "frame", "embed", "object"])
  func framing(_ destination: String) async throws {
    try await RunningWebsite.with { (site) async throws in
      let headers = ["Sec-Fetch-Dest": destination, "Sec-Fetch-Site": "same-origin"]
      #expect(try await site.send("GET", "/", headers.merging(site.cookie) { $1 }).status == 403)
      let page = try await site.send("GET", "/", site.cookie)
      #expect(page.headers["x-frame-options"] == "DENY")
      #expect(page.headers["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
    }
  }

  @Test("No answer allows another origin, and every answer has the headers that protect it")
  func headers() async throws {
    try await RunningWebsite.with { (site) async throws in
      for reply in [
        try await site.send("GET", "/", site.cookie), try await site.post(#"{"type":61}"#),
        try await site.send("GET", "/missing.js", site.cookie),
        try await site.send("OPTIONS", "/firebreak/messages", ["Origin": "http://evil.example"]),
      ] {
        #expect(!reply.headers.keys.contains { $0.hasPrefix("access-control") })
        #expect(reply.headers["x-content-type-options"] == "nosniff")
        #expect(reply.headers["cross-origin-opener-policy"] == "same-origin")
        #expect(reply.headers["cross-origin-resource-policy"] == "same-origin")
        #expect(reply.headers["referrer-policy"] == "no-referrer")
      }
    }
  }

  @Test("Without the secret, messages and events are refused, also to the owner's own processes")
  func noSecret() async throws {
    try await RunningWebsite.with { (site) async throws in
      for cookie in [
        "", "firebreak-\(site.port)=", "firebreak-1=\(site.secret)",
        "firebreak-\(site.port)=\(String(repeating: "0", count: 64))",
        "other=\(site.secret)",
      ] {
        #expect(try await site.post(#"{"type":61}"#, ["Cookie": cookie]).status == 403)
        let events = try await site.send("GET", "/firebreak/events", ["Cookie": cookie])
        #expect(events.status == 403)
      }
      let several = "a=b; firebreak-\(site.port)=\(site.secret); c"
      #expect(try await site.post(#"{"type":61}"#, ["Cookie": several]).status == 200)
    }
  }

  @Test("A message above the limit is refused")
  func tooLarge() async throws {
    try await RunningWebsite.with { (site) async throws in
      let text = String(repeating: "x", count: BridgeLimit.messageBytesMax)
      #expect(try await site.post(#"{"type":61,"data":"\#(text)"}"#).status == 413)
    }
  }
}

@Suite("The secret of a start")
struct WebSecretTests {
  @Test("The owner's processes get the secret with a document, other users do not")
  func owner() async throws {
    try await RunningWebsite.with { (site) async throws in
      let page = try await site.send("GET", "/")
      #expect(page.status == 200)
      #expect(
        page.headers["set-cookie"]
          == "firebreak-\(site.port)=\(site.secret); Path=/; HttpOnly; SameSite=Strict")
      // A script, a picture or a manifest is no document.
      let manifest = try await site.send("GET", "/index.html", ["Sec-Fetch-Dest": "manifest"])
      #expect(manifest.status == 200 && manifest.headers["set-cookie"] == nil)
    }
    try await RunningWebsite.with(owner: geteuid() + 1) { (site) async throws in
      for path in ["/", "/index.html", "/firebreak/bridge.js", "/?secret=0"] {
        let page = try await site.send("GET", path)
        #expect(page.status == 403 && page.headers["set-cookie"] == nil)
        #expect(!page.text.contains(site.secret))
      }
    }
  }

  @Test("An address with the secret leads to its own path, and never to another server")
  func paths() async throws {
    try await RunningWebsite.with { (site) async throws in
      let secret = "secret=\(site.secret)"
      for (path, target) in [
        ("/history?\(secret)", "/history"), ("/?\(secret)", "/"),
        ("/firebreak/open/home?\(secret)&a=1&b=2", "/firebreak/open/home?a=1&b=2"),
        ("//example.org/?\(secret)", "/"), ("/'onload='x?\(secret)", "/"),
      ] {
        let linked = try await site.send(
          "GET", path, ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"])
        #expect(linked.status == 200, "\(path)")
        let escaped = target.replacing("&", with: "&amp;")
        #expect(linked.text.contains("content=\"0; url=\(escaped)\""), "\(path): \(linked.text)")
        let typed = try await site.send("GET", path, ["Sec-Fetch-Dest": "document"])
        #expect(typed.status == 303 && typed.headers["location"] == target, "\(path)")
      }
    }
  }

  @Test("A typed secret is exchanged for the cookie, and leaves the address")
  func typed() async throws {
    try await RunningWebsite.with(owner: geteuid() + 1) { (site) async throws in
      #expect(site.secret.count == 64)
      let reply = try await site.send("GET", "/?secret=\(site.secret)")
      #expect(reply.status == 303 && reply.headers["location"] == "/")
      #expect(reply.headers["set-cookie"]?.contains(site.secret) == true)
      #expect(try await site.send("GET", "/", site.cookie).status == 200)
      let picture = try await site.send(
        "GET", "/?secret=\(site.secret)", ["Sec-Fetch-Dest": "image"])
      #expect(picture.status == 403)
    }
  }

  @Test(
    "A cookie that another user has taken opens nothing until that user opens the printed address")
  func takenCookie() async throws {
    try await RunningWebsite.with(owner: geteuid() + 1) { (site) async throws in
      #expect(try await site.send("GET", "/", site.cookie).status == 403)
      #expect(try await site.send("GET", "/firebreak/events", site.cookie).status == 403)
      #expect(try await site.post(#"{"type":1003}"#).status == 403)
      _ = try await site.send("GET", "/?secret=\(site.secret)")
      #expect(try await site.post(#"{"type":1003}"#).status == 200)
    }
  }

  @Test("A service worker of an earlier web app on the port gets a version that removes itself")
  func earlierWorker() async throws {
    try await RunningWebsite.with { (site) async throws in
      let update = ["Service-Worker": "script", "Sec-Fetch-Dest": "serviceworker"]
      let worker = try await site.send("GET", "/sw.js", update)
      #expect(worker.status == 200 && worker.text.contains("registration.unregister()"))
      #expect(worker.headers["content-type"]?.contains("javascript") == true)
      #expect(try await site.send("GET", "/sw.js").status == 404)
      let own = try await site.send("GET", "/service-worker.js", update)
      #expect(own.status == 200 && !own.text.contains("registration.unregister()"))
    }
  }

  @Test("A page of an earlier start renews its secret, if it is the owner's")
  func renewed() async throws {
    let headers = ["X-Firebreak-Bridge": "1", "Content-Type": "application/json"]
    try await RunningWebsite.with { (site) async throws in
      let reply = try await site.send("POST", "/firebreak/session", headers)
      #expect(reply.status == 204)
      #expect(reply.headers["set-cookie"]?.contains(site.secret) == true)
      #expect(try await site.send("POST", "/firebreak/session").status == 403)
    }
    try await RunningWebsite.with(owner: geteuid() + 1) { (site) async throws in
      #expect(try await site.send("POST", "/firebreak/session", headers).status == 403)
    }
  }

  @Test("Every start has a secret of its own, on a port of its own")
  func perStart() async throws {
    let secrets = [
      try await RunningWebsite.with { $0.secret }, try await RunningWebsite.with { $0.secret },
    ]
    #expect(secrets[0] != secrets[1])
    try await RunningWebsite.with { (first) async throws in
      #expect(try await RunningWebsite.with { $0.port } != first.port)
    }
  }
}
