// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import HealthAuthorityConsole

@Suite("Host and encryption of the console")
struct HostCheckTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("A request for another host gets 421 and no page of the console")
  func hosts() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = console.browser()
      for host in ["127.0.0.1:\(console.port)", "localhost:\(console.port)", "LOCALHOST:9000"] {
        let response = try await browser.send("GET", "/sign-in", nil, ["host": host])
        #expect(response.status == 200, "\(host)")
        #expect(response.headers["strict-transport-security"] == nil)
      }
      for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.1.2.3"] {
        for path in ["/sign-in", "/style.css", "/nothing"] {
          let response = try await browser.send("GET", path, nil, ["host": host])
          #expect(response.status == 421, "\(host) \(path)")
        }
        let posted = try await browser.send(
          "POST", "/sign-in", Data("name=a".utf8),
          ["host": host, "content-type": "application/x-www-form-urlencoded"])
        #expect(posted.status == 421)
      }
    }
  }

  @Test("With an https origin its host is accepted, and each response tells browsers to encrypt")
  func origin() async throws {
    try await RunningConsole.run(
      in: folder.url, configure: { $0.origin = "https://console.example" }
    ) { console async throws in
      let browser = console.browser()
      for path in ["/sign-in", "/", "/nothing"] {
        let response = try await browser.send("GET", path, nil, ["host": "console.example"])
        #expect(response.status != 421)
        let header = response.headers["strict-transport-security"]
        #expect(header?.hasPrefix("max-age=") == true, "\(path)")
      }
      let other = try await browser.send("GET", "/sign-in", nil, ["host": "other.example"])
      #expect(other.status == 421)
    }
  }
}
