// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import QuietHTTP
import TestSupport
import Testing
import World

@testable import HealthAuthorityConsole

/// All routes of the console, answered by its router: no server and no socket.
@Suite("Routes of the console without a socket")
struct RouteTests {
  private let folder: TemporaryFolder
  private let log = CollectedLog()

  init() throws { folder = try TemporaryFolder() }

  private func router() throws -> Router<QuietContext> {
    let (clock, randomness) = (ManualClock(RunningConsole.start), SystemRandomness())
    let configuration = ConsoleConfiguration(
      databaseFile: folder.path("console.sqlite"),
      secret: Data(repeating: 7, count: ConsoleConfiguration.secretBytes))
    let composition = try ConsoleComposition(
      configuration, clock: clock, randomness: randomness, logger: log.logger)
    return try composition.router(
      SimulatedAuthority(), serviceClock: clock,
      metrics: RequestMetrics(clock: clock, randomness: randomness))
  }

  /// The response of `responder` to a request without a body to a route.
  private func response(
    of responder: RouterResponder<QuietContext>, to route: Router<QuietContext>.RouteDescription,
    _ headers: [(String, String)] = [], host: String = "localhost:8082"
  ) async throws -> Response {
    let names = route.path.description.split(separator: "/").map { name in
      name.hasPrefix(":") || name.hasPrefix("{") ? "x" : String(name)
    }
    var fields = HTTPFields()
    for (name, value) in headers {
      let name = try #require(HTTPFields.Element.Name(name))
      fields.append(HTTPFields.Element(name: name, value: value))
    }
    let head = HTTPRequest(
      method: route.method, scheme: "http", authority: host,
      path: "/" + names.joined(separator: "/"), headerFields: fields)
    let source = ApplicationRequestContextSource(
      channel: NIOAsyncTestingChannel(), logger: log.logger)
    return try await responder.respond(
      to: Request(head: head, body: RequestBody(buffer: ByteBuffer())),
      context: QuietContext(source: source))
  }

  @Test("Every form of another site is refused, also if one of two headers names the console")
  func forms() async throws {
    let router = try router()
    let responder = router.buildResponder()
    let forms = router.routes.filter { $0.method == .post }
    #expect(forms.count >= 24)
    for form in forms {
      for headers in [
        [("sec-fetch-site", "cross-site")], [("origin", "http://evil.example")],
        [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")],
        [("origin", "http://localhost"), ("origin", "null")],
      ] {
        let response = try await response(of: responder, to: form, headers)
        #expect(response.status == .forbidden, "\(form.path) \(headers)")
        let policy = response.headers[.contentSecurityPolicy] ?? ""
        #expect(policy.contains("frame-ancestors 'none'"), "\(form.path)")
      }
    }
  }

  @Test("Every page is refused under another host name, except for the probes")
  func hosts() async throws {
    let router = try router()
    let responder = router.buildResponder()
    let pages = router.routes.filter {
      $0.method == .get && !["/health", "/ready"].contains($0.path.description)
    }
    #expect(pages.count >= 20)
    for page in pages {
      let response = try await response(of: responder, to: page, host: "evil.example")
      #expect(response.status == .misdirectedRequest, "\(page.path)")
    }
  }
}
