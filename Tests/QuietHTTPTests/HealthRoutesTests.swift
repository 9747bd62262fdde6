// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import Logging
import TestSupport
import Testing
import World

@testable import QuietHTTP

@Suite("Routes for probes")
struct HealthRoutesTests {
  /// Runs a server whose check returns `faults`.
  private func withServer(
    faults: [String], requestsInWorkMax: Int = 10, _ body: (String) async throws -> Void
  ) async throws {
    let router = Router.quiet(refusals: .plain, randomness: SystemRandomness())
    HealthRoutes { faults }.add(to: router)
    router.get("/page") { _, _ in "page" }
    var limits = ConnectionLimits()
    limits.requestsInWorkMax = requestsInWorkMax
    let server = QuietServer(
      router: router, host: "127.0.0.1", port: 0, limits: limits, logger: CollectedLog().logger)
    let running = Task { try await server.run() }
    try await body("http://127.0.0.1:\(await server.boundPort)")
    running.cancel()
    _ = await running.result
  }

  /// The status and the body.
  private func get(_ address: String) async throws -> String {
    let response = try await LoopbackClient.send("GET", address)
    return "\(response.status) \(String(decoding: response.body, as: UTF8.self))"
  }

  @Test("A server without faults is alive and ready")
  func ready() async throws {
    try await withServer(faults: []) { address in
      let (health, ready) = (try await get(address + "/health"), try await get(address + "/ready"))
      #expect(health == #"200 {"alive":true}"#)
      #expect(ready == #"200 {"ready":true}"#)
    }
  }

  @Test("A server with faults is alive, and /ready is 503 with their names")
  func notReady() async throws {
    try await withServer(faults: ["database", "files"]) { address in
      let (health, ready) = (try await get(address + "/health"), try await get(address + "/ready"))
      #expect(health.hasPrefix("200"))
      #expect(ready == #"503 {"ready":false,"faults":["database","files"]}"#)
    }
  }

  @Test("A server that rejects requests because of its load responds to probes")
  func overloaded() async throws {
    try await withServer(faults: [], requestsInWorkMax: 0) { address in
      let page = try await get(address + "/page")
      let (health, ready) = (try await get(address + "/health"), try await get(address + "/ready"))
      #expect(page.hasPrefix("503"))
      #expect(health.hasPrefix("200"))
      #expect(ready.hasPrefix("200"))
    }
  }
}

@Suite("Readiness")
struct ReadinessTests {
  private let checks = Counter()

  @Test("A result is returned again for a second, and then the parts are checked again")
  func cached() async {
    let start = ContinuousClock.now
    let elapsed = ManualStopwatch()
    let timeout = Gate()
    defer { timeout.open() }
    let readiness = Readiness(
      { [checks] in
        checks.add()
        return checks.count == 1 ? [] : ["database"]
      }, now: { start + elapsed.elapsed }, waitForTimeout: { try? await timeout.wait() })
    #expect(await readiness.faults().isEmpty)
    elapsed.advance(by: .milliseconds(999))
    #expect(await readiness.faults().isEmpty)
    elapsed.advance(by: .milliseconds(1))
    #expect(await readiness.faults() == ["database"])
    #expect(checks.count == 2)
  }

  @Test("A check that hangs makes the server not ready, and is not started a second time")
  func hanging() async throws {
    let start = ContinuousClock.now
    let elapsed = ManualStopwatch()
    let (ends, timeout) = (Gate(), Gate())
    let readiness = Readiness(
      { [checks] in
        checks.add()
        try? await ends.wait()
        return []
      }, now: { start + elapsed.elapsed }, waitForTimeout: { try? await timeout.wait() })
    async let first = readiness.faults()
    async let second = readiness.faults()
    timeout.open()
    #expect(await first == [Readiness.timeout])
    #expect(await second == [Readiness.timeout])
    elapsed.advance(by: .seconds(60))
    #expect(await readiness.faults() == [Readiness.timeout])
    #expect(checks.count == 1)
    ends.open()
    try await Patience.until { await readiness.faults().isEmpty }
  }
}
