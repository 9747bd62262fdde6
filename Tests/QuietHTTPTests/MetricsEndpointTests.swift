// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import ServerMetrics
import TestSupport
import Testing
import World

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
    #expect(early.contains("firebreak_http_request_duration_seconds_count 20\n"))
    #expect(!early.contains("people"))
    clock.advance(by: CoarseCounts.windowSeconds)
    let text = MetricsText(metrics.families).text
    #expect(text.contains("route=\"/people/{name}\"} 10\n"), "\(text)")
    #expect(text.contains("class=\"refused\"} 10\n") && text.contains("class=\"success\"} 10\n"))
    #expect(!text.contains("alice") && !text.contains("bob"))
  }
}
