// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import PWA
import TestSupport
import Testing
import World

@Suite("A copy of another web app that runs from files")
struct PageCopyTests {
  private let folder: TemporaryFolder
  private var pages: URL { folder.path("app") }
  private var copy: URL { folder.path("copy") }

  init() throws {
    folder = try TemporaryFolder()
    try write("app/index.html", "<!doctype html><html><head></head><body>index</body></html>")
    try write("app/static/100%.js", "run()")
    try write("app/docs/deep/index.html", "<!doctype html><html><head></head></html>")
    try write("app/.env", "hidden")
    try write("secret.txt", "outside")
    try FileManager.default.createSymbolicLink(
      at: folder.path("app/link.txt"), withDestinationURL: folder.path("secret.txt"))
  }

  private func write(_ name: String, _ text: String) throws {
    let url = folder.path(name)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  /// The secret in a page of the copy.
  private func secret(in page: String = "index.html") throws -> String {
    let text = try String(contentsOf: copy.appendingPathComponent(page), encoding: .utf8)
    return String(try #require(text.firstMatch(of: /data-secret="([0-9a-f]{64})"/)).1)
  }

  private func post(
    _ site: RunningWebsite, _ query: String, _ headers: [String: String] = [:]
  ) async throws -> WebReply {
    let own = ["Origin": "null", "Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"]
    return try await site.send(
      "POST", "/firebreak/messages" + query, own.merging(headers) { $1 }, body: #"{"type":61}"#)
  }

  @Test(
    "The copy has the files with the bridge, is readable by its owner only, and ends with the server"
  )
  func files() async throws {
    for _ in 0..<2 {
      try write("copy/old.txt", "of an earlier start")
      try await RunningWebsite.with(pages: pages, copy: copy) { (site) async throws in
        let address = try #require(site.copyAddress.flatMap(URL.init(string:)))
        #expect(address.isFileURL && address.lastPathComponent == "index.html")
        let names = try FileManager.default.subpathsOfDirectory(atPath: copy.path).sorted()
        #expect(
          names == [
            "docs", "docs/deep", "docs/deep/index.html", "firebreak-bridge.js", "index.html",
            "static", "static/100%.js",
          ])
        for name in [""] + names {
          let path = copy.appendingPathComponent(name).path
          let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
          #expect((mode as? Int ?? 0) & 0o077 == 0, "\(name)")
        }
        let deep = try String(
          contentsOf: copy.appendingPathComponent("docs/deep/index.html"), encoding: .utf8)
        #expect(deep.contains(#"<script src="../../firebreak-bridge.js""#))
        #expect(deep.contains("connect-src http://127.0.0.1:\(site.port) "))
        #expect(try secret() != site.secret)
      }
      #expect(!FileManager.default.fileExists(atPath: copy.path))
    }
  }

  @Test("Requests with the origin of files are answered only with the secret of the copy")
  func origin() async throws {
    try await RunningWebsite.with(pages: pages, copy: copy) { (site) async throws in
      let secret = try secret()
      let reply = try await post(site, "?secret=\(secret)")
      #expect(reply.status == 200 && reply.text.contains("riskLevel"))
      #expect(reply.headers["access-control-allow-origin"] == "null")
      let other = String(secret.reversed())
      for query in ["", "?secret=", "?secret=\(other)", "?secret=\(site.secret)"] {
        let refused = try await post(site, query, site.cookie)
        #expect(refused.status == 403)
        #expect(refused.headers["access-control-allow-origin"] == nil)
      }
      let query = "?secret=\(secret)"
      #expect(try await post(site, query, ["Origin": "http://evil.example"]).status == 403)
      #expect(try await post(site, query, ["Host": "evil.example"]).status == 421)
      // The secret of the copy opens nothing else.
      for path in ["/", "/firebreak/bridge.js", "/firebreak/texts/en.json"] {
        #expect(try await site.send("GET", path + query, ["Origin": "null"]).status == 403)
      }
      let session = try await site.send("POST", "/firebreak/session" + query, ["Origin": "null"])
      #expect(session.status == 403)
    }
  }

  @Test("Without a copy, the origin of files is refused")
  func noCopy() async throws {
    try await RunningWebsite.with(pages: pages) { (site) async throws in
      #expect(site.copyAddress == nil)
      #expect(try await post(site, "?secret=\(site.secret)", site.cookie).status == 403)
    }
  }

  @Test(
    "A copy into the pages, onto them or around them is refused and removes nothing, twice",
    arguments: ["app", "app/copy/deep", ".", "link", "link/new"])
  func overlapping(name: String) async throws {
    try FileManager.default.createSymbolicLink(
      at: folder.path("link"), withDestinationURL: pages)
    let copy = name == "." ? folder.url : folder.path(name)
    for _ in 0..<2 {
      let website = try PhoneWebsite(
        Bridge(
          to: ScriptedPhone(), statistics: PublishedStatistics(nil), version: "1.2.3",
          clock: SystemClock()),
        port: 0, pages: pages, copy: copy, randomness: SystemRandomness(),
        logger: Logger(label: "test"))
      await #expect(throws: WebsiteError.pages(.overlapsCopy(copy.path))) {
        try await website.run()
      }
      try PhoneWebsite.removeLeftoverCopy(in: copy, pages: pages)
      #expect(try Data(contentsOf: pages.appendingPathComponent("static/100%.js")).count == 5)
      #expect(FileManager.default.fileExists(atPath: folder.path("secret.txt").path))
    }
  }

  @Test("A copy that a killed phone has left is removed, and none is no error")
  func leftover() throws {
    try write("copy/index.html", #"data-secret="old""#)
    for _ in 0..<2 {
      try PhoneWebsite.removeLeftoverCopy(in: copy, pages: nil)
      #expect(!FileManager.default.fileExists(atPath: copy.path))
    }
  }

  @Test("If a file cannot be copied, the server ends with the reason and leaves no copy")
  func tooLarge() async throws {
    try Data(count: PageLimit.fileBytesMax + 1).write(to: folder.path("app/large.bin"))
    let website = try PhoneWebsite(
      Bridge(
        to: ScriptedPhone(), statistics: PublishedStatistics(nil), version: "1.2.3",
        clock: SystemClock()),
      port: 0, pages: pages, copy: copy, randomness: SystemRandomness(),
      logger: Logger(label: "test"))
    await #expect(throws: WebsiteError.pages(.notCopied(copy.path))) { try await website.run() }
    #expect(!FileManager.default.fileExists(atPath: copy.path))
  }
}
