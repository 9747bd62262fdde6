// SPDX-License-Identifier: Apache-2.0
import Foundation
import PWA
import TestSupport
import Testing

@Suite("Another web app with --pages")
struct PageFolderTests {
  private let folder: TemporaryFolder
  private var pages: URL { folder.path("app") }

  init() throws {
    folder = try TemporaryFolder()
    try write("app/index.html", "<!doctype html><html><head></head><body>index</body></html>")
    try write("app/static/js/main.js", "run()")
    try write("app/docs/index.html", "<p>docs</p>")
    try write("app/.env", "hidden")
    try write("secret.txt", "outside")
  }

  private func write(_ name: String, _ text: String) throws {
    let url = folder.path(name)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  @Test(
    "Files have the content types that browsers require",
    arguments: [
      ("a.js", "text/javascript; charset=utf-8"), ("a.mjs", "text/javascript; charset=utf-8"),
      ("a.css", "text/css; charset=utf-8"), ("a.json", "application/json"),
      ("a.webmanifest", "application/manifest+json"), ("a.svg", "image/svg+xml"),
      ("a.PNG", "image/png"), ("a.woff2", "font/woff2"), ("a.wasm", "application/wasm"),
      ("a.html", "text/html"), ("a", "application/octet-stream"),
    ])
  func types(_ name: String, _ type: String) async throws {
    try write("app/\(name)", "x")
    try await RunningWebsite.with(pages: pages) { (site) async throws in
      #expect(try await site.send("GET", "/\(name)").headers["content-type"] == type)
    }
  }

  @Test(
    "Paths that lead out of the folder, or to hidden files, are refused",
    arguments: [
      "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/static/../../secret.txt",
      "/link.txt", "/linked/secret.txt", "/.env", "/%2eenv", "/static/js/main.js%00.html",
      "/static", "/missing.js",
    ])
  func outside(_ path: String) async throws {
    let links = FileManager.default
    try links.createSymbolicLink(
      at: folder.path("app/link.txt"), withDestinationURL: folder.path("secret.txt"))
    try links.createSymbolicLink(at: folder.path("app/linked"), withDestinationURL: folder.url)
    try await RunningWebsite.with(pages: pages) { (site) async throws in
      let reply = try await site.send("GET", path)
      #expect(reply.status == 404)
      #expect(!reply.text.contains("outside") && !reply.text.contains("hidden"))
    }
  }

  @Test("Long texts are compressed for browsers that accept it, with an entity tag of their own")
  func compressed() async throws {
    let text = String(repeating: "let a = 1;\n", count: 1_000)
    try write("app/long.js", text)
    try await RunningWebsite.with(pages: pages) { (site) async throws in
      let plain = try await site.send("GET", "/long.js")
      #expect(plain.text == text && plain.headers["content-encoding"] == nil)
      for refusal in ["gzip", "deflate;q=0", "deflate; q=0.0", ""] {
        let reply = try await site.send("GET", "/long.js", ["Accept-Encoding": refusal])
        #expect(reply.text == text, "\(refusal)")
      }
      let accepting = ["Accept-Encoding": "gzip, deflate, br"]
      let deflated = try await site.send("GET", "/long.js", accepting)
      #expect(deflated.headers["content-encoding"] == "deflate")
      #expect(deflated.headers["vary"] == "accept-encoding")
      #expect(Int(deflated.headers["content-length"] ?? "") ?? .max < text.utf8.count / 3)
      let tag = try #require(deflated.headers["etag"])
      #expect(tag != plain.headers["etag"])
      let again = try await site.send(
        "GET", "/long.js", accepting.merging(["If-None-Match": tag]) { $1 })
      #expect(again.status == 304)
    }
  }

  @Test("A link inside the folder is followed")
  func inside() async throws {
    try FileManager.default.createSymbolicLink(
      at: folder.path("app/link.js"), withDestinationURL: folder.path("app/static/js/main.js"))
    try await RunningWebsite.with(pages: pages) { (site) async throws in
      #expect(try await site.send("GET", "/link.js").text == "run()")
    }
  }

  @Test("A document without a file is a route of the app, another file is missing")
  func routes() async throws {
    try await RunningWebsite.with(pages: pages) { (site) async throws in
      for headers in [["Sec-Fetch-Dest": "document"], ["Accept": "text/html,*/*"]] {
        let route = try await site.send("GET", "/settings/languages", headers)
        #expect(route.status == 200 && route.text.contains("index"))
        #expect(route.headers["content-type"] == "text/html")
      }
      let script = ["Sec-Fetch-Dest": "script", "Accept": "*/*"]
      #expect(try await site.send("GET", "/settings/x.js", script).status == 404)
    }
  }

  @Test("An app that was built for another place finds its files", arguments: ["/app", "/a/b"])
  func place(_ base: String) async throws {
    try await RunningWebsite.with(pages: pages) { (site) async throws in
      #expect(try await site.send("GET", base + "/static/js/main.js").text == "run()")
      let page = try await site.send("GET", base + "/", ["Sec-Fetch-Dest": "document"])
      #expect(page.text.contains("index"))
    }
  }

  @Test("A folder with an index is a page; its address ends with a slash")
  func folders() async throws {
    try await RunningWebsite.with(pages: pages) { (site) async throws in
      #expect(try await site.send("GET", "/docs/").text.hasSuffix("<p>docs</p>"))
      #expect(try await site.send("GET", "/docs").headers["location"] == "/docs/")
      #expect(try await site.send("GET", "//docs").headers["location"] != "//docs/")
    }
  }

  @Test("An unchanged file is not sent again, a changed one is")
  func tags() async throws {
    try await RunningWebsite.with(pages: pages) { (site) async throws in
      let path = "/static/js/main.js"
      let first = try await site.send("GET", path)
      #expect(first.headers["cache-control"] == "no-cache")
      let tag = try #require(first.headers["etag"])
      for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
        let second = try await site.send("GET", path, ["If-None-Match": known])
        #expect(second.status == 304 && second.body.isEmpty && second.headers["etag"] == tag)
      }
      try write("app/static/js/main.js", "run(2)")
      let third = try await site.send("GET", path, ["If-None-Match": tag])
      #expect(third.status == 200 && third.text == "run(2)")
    }
  }

  @Test("HEAD has the headers of GET and no body")
  func head() async throws {
    try await RunningWebsite.with(pages: pages) { (site) async throws in
      let (head, get) = (try await site.send("HEAD", "/"), try await site.send("GET", "/"))
      #expect(head.status == 200 && head.body.isEmpty)
      for name in ["content-type", "content-length", "etag"] {
        #expect(head.headers[name] == get.headers[name])
      }
    }
  }

  @Test("A file above the limit is refused")
  func tooLarge() async throws {
    try Data(count: PageLimit.fileBytesMax + 1).write(to: folder.path("app/large.bin"))
    try Data(count: PageLimit.fileBytesMax).write(to: folder.path("app/limit.bin"))
    try await RunningWebsite.with(pages: pages) { (site) async throws in
      #expect(try await site.send("GET", "/large.bin").status == 413)
      #expect(try await site.send("GET", "/limit.bin").body.count == PageLimit.fileBytesMax)
    }
  }

  @Test("The CSP of another app allows inline scripts but no other host; ours is strict")
  func policies() async throws {
    func policy(_ pages: URL?) async throws -> [String: String] {
      let header = try await RunningWebsite.with(pages: pages) { (site) async throws in
        try await site.send("GET", "/").headers["content-security-policy"] ?? ""
      }
      let directives = header.split(separator: ";").map {
        $0.trimmingCharacters(in: .whitespaces).split(separator: " ", maxSplits: 1)
      }
      return Dictionary(
        directives.map { (String($0[0]), $0.count > 1 ? String($0[1]) : "") }
      ) { $1 }
    }
    let ours = try await policy(nil)
    #expect(ours["default-src"] == "'none'" && ours["script-src"] == "'self'")
    #expect(ours["style-src"] == "'self'" && ours["base-uri"] == "'none'")
    let theirs = try await policy(pages)
    for word in ["'unsafe-inline'", "'unsafe-eval'", "blob:", "data:"] {
      #expect(theirs["script-src"]?.contains(word) == true)
    }
    for (name, value) in theirs {
      for place in ["*", "http:", "https:", "ws:", "wss:"] {
        #expect(!value.split(separator: " ").contains(Substring(place)), "\(name) \(value)")
      }
    }
    #expect(theirs["connect-src"]?.hasPrefix("'self'") == true)
    #expect(theirs["frame-ancestors"] == "'none'" && theirs["form-action"] == "'self'")
  }

  @Test("A service worker may control all pages, wherever its file is")
  func serviceWorker() async throws {
    try await RunningWebsite.with(pages: pages) { (site) async throws in
      let reply = try await site.send(
        "GET", "/static/js/main.js",
        ["Service-Worker": "script", "Sec-Fetch-Dest": "serviceworker"])
      #expect(reply.status == 200 && reply.headers["service-worker-allowed"] == "/")
    }
  }

  @Test("A folder without an app is refused with its name")
  func noApp() async throws {
    let missing = folder.path("missing")
    await #expect(throws: WebsiteError.pages(.noFolder(missing.path))) {
      try await RunningWebsite.with(pages: missing) { _ in }
    }
    await #expect(throws: WebsiteError.pages(.noIndex(folder.url.path))) {
      try await RunningWebsite.with(pages: folder.url) { _ in }
    }
  }
}
