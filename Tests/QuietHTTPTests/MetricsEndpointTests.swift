// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import ServerMetrics
import TestSupport
import Testing
import World

@testable import QuietHTTP

@Suite("The endpoint of metrics")
struct MetricsEndpointTests {
  @Test("GET /metrics returns the metrics of the moment with the media type of Prometheus")
  func served() async throws {
    let calls = Counter()
    let endpoint = MetricsEndpoint(
      host: "127.0.0.1", port: 0, randomness: SystemRandomness(), logger: CollectedLog().logger
    ) {
      calls.add()
      return [
        MetricFamily("calls", .gauge, help: "Calls.", [MetricSample(Double(calls.count))])
      ]
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { do { try await endpoint.run() } catch is CancellationError {} }
      let address = "http://127.0.0.1:\(await endpoint.boundPort)"
      for number in 1...2 {
        let response = try await LoopbackClient.send("GET", address + MetricsEndpoint.path)
        #expect(response.status == 200)
        #expect(response.headers["content-type"] == MetricsText.mediaType)
        #expect(String(decoding: response.body, as: UTF8.self).hasSuffix("\ncalls \(number)\n"))
      }
      #expect(try await LoopbackClient.send("GET", address + "/").status == 404)
      group.cancelAll()
    }
  }

  @Test(
    "The endpoint has few connections: for one more, the one that has been idle longest is closed")
  func connections() async throws {
    // On a busy machine the connections may be idle for too long.
    let isClosed = try await Patience.succeeds(within: QuietLimit.idleSeconds) {
      try await closesLongestIdle()
    }
    #expect(isClosed)
  }

  /// True if a connection more than allowed closes the one that has been idle longest, and no other.
  private func closesLongestIdle() async throws -> Bool {
    let endpoint = MetricsEndpoint(
      host: "127.0.0.1", port: 0, randomness: SystemRandomness(), logger: CollectedLog().logger
    ) { [] }
    return try await withThrowingTaskGroup(of: Void.self, returning: Bool.self) { group in
      group.addTask { do { try await endpoint.run() } catch is CancellationError {} }
      let port = await endpoint.boundPort
      let isClosed = try await Wire.aside {
        let request = "GET \(MetricsEndpoint.path) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        func isServed(_ connection: WireConnection) -> Bool {
          connection.ask(request)?.status == 200
        }
        // One is left, so that a new connection is accepted at once.
        let held = try (1..<QuietLimit.metricsConnectionsMax).map { _ in
          let connection = try WireConnection(port: port)
          #expect(isServed(connection))
          return connection
        }
        var isClosed = held.allSatisfy(isServed)
        let late = try WireConnection(port: port)
        isClosed = isServed(late) && isClosed
        isClosed = held[0].receive() == Data() && isServed(held[1]) && isClosed
        for connection in held + [late] { connection.close() }
        return isClosed
      }
      group.cancelAll()
      return isClosed
    }
  }

  @Test("Routes, classes and durations are counted, and paths with user input are not shown")
  func requests() async throws {
    let clock = ManualClock(Date(timeIntervalSince1970: 1_600_000_000))
    let metrics = RequestMetrics(clock: clock, randomness: TestRandomness())
    let router = Router.quiet(
      refusals: .plain, randomness: SystemRandomness(), metrics: metrics)
    router.get("/people/:name") { _, _ in "hello" }
    HealthRoutes { [] }.add(to: router)
    let server = QuietServer(
      router: router, host: "127.0.0.1", port: 0, logger: CollectedLog().logger)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { do { try await server.run() } catch is CancellationError {} }
      let address = "http://127.0.0.1:\(await server.boundPort)"
      for number in 0..<10 {
        _ = try await LoopbackClient.send("GET", "\(address)/people/alice\(number)")
        _ = try await LoopbackClient.send("GET", "\(address)/unknown/bob\(number)")
      }
      // Requests of probes are not counted.
      _ = try await LoopbackClient.send("GET", address + HealthRoutes.ready)
      group.cancelAll()
    }
    let early = MetricsText(metrics.families).text
    #expect(early.contains("firebreak_http_request_duration_seconds_count 0\n"))
    #expect(!early.contains("people"))
    clock.advance(by: CoarseCounts.windowSeconds)
    let text = MetricsText(metrics.families).text
    #expect(text.contains("route=\"/people/{name}\"} 10\n"), "\(text)")
    #expect(text.contains("class=\"refused\"} 10\n") && text.contains("class=\"success\"} 10\n"))
    #expect(!text.contains("alice") && !text.contains("bob"))
  }

  @Test("Durations are shown by tens, after their window; a single request shows nowhere")
  func durations() {
    let clock = ManualClock(Date(timeIntervalSince1970: 1_600_000_000))
    let metrics = RequestMetrics(clock: clock, randomness: TestRandomness(seed: 3))
    func shown() -> [MetricSample] {
      metrics.families.first { $0.name == "firebreak_http_request_duration_seconds" }?.samples ?? []
    }
    for _ in 1...10 { metrics.record(route: "-", status: .ok, duration: .milliseconds(7)) }
    for _ in 1...20 { metrics.record(route: "-", status: .ok, duration: .seconds(30)) }
    let before = MetricsText(metrics.families).text
    metrics.record(route: "-", status: .ok, duration: .milliseconds(600))
    #expect(MetricsText(metrics.families).text == before)
    clock.advance(by: CoarseCounts.windowSeconds)
    let samples = shown()
    #expect(samples.filter { $0.suffix != "_sum" }.allSatisfy { Int($0.value) % 10 == 0 })
    func bucket(_ bound: String) -> Double? {
      samples.first { $0.labels == [MetricLabel("le", bound)] }?.value
    }
    #expect(bucket("0.005") == 0 && bucket("0.01") == 10 && bucket("0.5") == 10)
    let count = samples.first { $0.suffix == "_count" }?.value ?? 0
    #expect(bucket("+Inf") == count && (30...40).contains(count))
    // The middles of the buckets: 7.5 ms, 0.75 s for the one between, and 10 s for the longer ones.
    let between = (bucket("1.0") ?? 0) - 10
    let sum = samples.first { $0.suffix == "_sum" }?.value ?? 0
    #expect(abs(sum - (0.075 + between * 0.75 + 200)) < 0.001)
  }
}
