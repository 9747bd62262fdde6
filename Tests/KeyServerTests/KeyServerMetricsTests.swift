// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import ServerMetrics
import TestSupport
import Testing
import World

@testable import KeyServer

@Suite("The metrics of a key server")
struct KeyServerMetricsTests {
  private func samples(_ families: [MetricFamily], _ name: String) -> [String: Double] {
    let samples = families.first { $0.name == name }?.samples ?? []
    return Dictionary(
      samples.map { ($0.labels.last?.value ?? "", $0.value) }, uniquingKeysWith: { $1 })
  }

  /// All metrics without durations, which differ from run to run.
  private func text(_ server: RunningKeyServer) async -> String {
    MetricsText(await server.server.families().filter { $0.kind != .histogram }).text
  }

  @Test("Ten decoys leave the same metrics as ten uploads")
  func decoys() async throws {
    var texts: [String] = []
    for headers in [[], [("x-chaff", "1")]] as [[(String, String)]] {
      try await RunningKeyServer.run { server in
        try await server.untilIdle()
        for _ in 1...CoarseCounts.step {
          let response = try await server.upload(server.request(server.keys(3)), headers: headers)
          #expect(response.status == 200)
        }
        server.clock.advance(by: CoarseCounts.windowSeconds)
        try await server.untilIdle()
        texts.append(await text(server))
      }
    }
    #expect(texts[0].contains(#"firebreak_http_responses_total{class="success"} 10"#))
    #expect(texts[0] == texts[1])
  }

  @Test("Refusals are counted by cause, all of which are there from the start")
  func refusals() async throws {
    try await RunningKeyServer.run { server in
      let name = "firebreak_refusals_total"
      let before = samples(await server.server.families(), name)
      #expect(Set(before.keys) == Set(RefusalCause.names) && before.values.allSatisfy { $0 == 0 })
      let token = try await server.authority.token(at: server.clock.now, audience: "another")
      for _ in 1...CoarseCounts.step {
        #expect(
          try await server.upload(server.request(server.keys(1), token: token)).status == 401)
      }
      #expect(samples(await server.server.families(), name) == before)
      server.clock.advance(by: CoarseCounts.windowSeconds)
      var expected = before
      expected["audience"] = 10
      #expect(samples(await server.server.families(), name) == expected)
    }
  }

  @Test("Exports and jobs are shown with their times, again after the next period")
  func exports() async throws {
    try await RunningKeyServer.run { server in
      for _ in 1...2 {
        try await server.untilIdle()
        let (families, now) = (await server.server.families(), server.clock.now)
        let closed = samples(families, "firebreak_export_closed_until_timestamp_seconds")
        #expect(closed[""] == now.timeIntervalSince1970)
        #expect(samples(families, "firebreak_export_period_seconds")[""] == 14_400)
        let jobs = samples(families, "firebreak_job_last_success_timestamp_seconds")
        for job in ["export", "cleanup", "check", "key_pull"] {
          let time = jobs[job] ?? 0
          #expect((now.timeIntervalSince1970 - 14_400...now.timeIntervalSince1970).contains(time))
        }
        #expect(samples(families, "firebreak_database_readable").values.first == 1)
        server.clock.advance(by: 14_400)
      }
    }
  }

  @Test("A day of the statistics is shown with the rounding of the statistics, and no earlier")
  func days() async throws {
    try await RunningKeyServer.run { server in
      let name = "firebreak_statistics_uploads"
      for _ in 1...12 {
        let response = try await server.upload(server.request(server.keys(1)))
        #expect(response.status == 200)
      }
      // The day ends in 12 hours, and is shown 48 hours later.
      server.clock.advance(by: 59 * 3_600)
      #expect(samples(await server.server.families(), name).isEmpty)
      server.clock.advance(by: 2 * 3_600)
      let shown = samples(await server.server.families(), name)
      #expect([10, 20].contains(shown["ios"]) && shown["android"] == 0, "\(shown)")
    }
  }

  @Test("A database that cannot be read is told by a metric; the others remain")
  func unreadable() async throws {
    try await RunningKeyServer.run { server in
      try await server.untilIdle()
      try FileManager.default.removeItem(at: server.configuration.databaseFile)
      let families = await server.server.families()
      #expect(samples(families, "firebreak_database_readable").values.first == 0)
      #expect(!samples(families, "firebreak_refusals_total").isEmpty)
    }
  }
}
