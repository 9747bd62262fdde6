// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import ServedSystem
import TestSupport
import Testing

@Suite("Metrics, alerts and dashboard", .needs(.process))
struct MonitoringTests {
  private static let deployment = SharedData.projectRoot.appendingPathComponent("Deployment")
  private static let rules = deployment.appendingPathComponent("prometheus/firebreak.rules.yml")

  /// Metrics that need a day of statistics, or a setting.
  private static let later: Set<String> = [
    "firebreak_statistics_codes", "firebreak_statistics_codes_day_timestamp_seconds",
    "firebreak_statistics_day_timestamp_seconds", "firebreak_statistics_keys",
    "firebreak_statistics_uploads", "firebreak_http_requests_total",
    "firebreak_canary_last_success_timestamp_seconds", "firebreak_canary_notice_seconds",
    "firebreak_canary_last_round_timestamp_seconds", "firebreak_canary_failed",
    "firebreak_tls_certificate_expiry_timestamp_seconds", "firebreak_realm_up",
  ]

  private func text(_ path: String) throws -> String {
    try String(contentsOf: SharedData.projectRoot.appendingPathComponent(path), encoding: .utf8)
  }

  /// The families of the metrics of a running server.
  private func families(_ metrics: String) -> Set<String> {
    Set(metrics.matches(of: #/# TYPE (\w+) /#).map { String($0.output.1) })
  }

  /// The names of metrics in rules or in a dashboard, without the series of histograms.
  private func names(in text: String) -> Set<String> {
    Set(
      text.matches(of: #/\b(?:firebreak|process)_[a-z_]+\b/#).map {
        String($0.output).replacing(#/_(bucket|sum|count)$/#, with: "")
      })
  }

  private func documented() throws -> Set<String> {
    let page = try text("Documentation/Monitoring.md")
    return Set(
      page.matches(of: #/`((?:firebreak|process)_[a-z_]+)`/#).map { String($0.output.1) })
  }

  @Test("The metrics of a server pass promtool, are those of the documentation, and survive SIGHUP")
  func served() async throws {
    let folder = try TemporaryFolder()
    let receiver = try DatagramReceiver(path: folder.path("notify").path)
    let servers = try await ServedFirebreak(
      folder: folder, ["--metrics-port", "0"],
      environment: ["NOTIFY_SOCKET": folder.path("notify").path])
    defer { withExtendedLifetime((servers, folder)) {} }
    let addresses = try await servers.addresses()
    let address = try #require(addresses["metrics"])
    var messages: [String] = []
    for attempt in 1...2 {
      let file = folder.path("metrics")
      var metrics = ""
      try await Patience.until {
        let response = try await servers.get(address, MetricsEndpoint.path)
        metrics = String(decoding: response.body, as: UTF8.self)
        return response.status == 200 && metrics.contains(#"task="export"} 1"#)
      }
      try Data(metrics.utf8).write(to: file)
      let check = try await Shell.run("promtool check metrics < '\(file.path)'")
      #expect(check.status == 0, "\(check.output)\(check.errors)")
      let (shown, known) = (families(metrics), try documented())
      #expect(known.subtracting(shown).subtracting(Self.later).isEmpty)
      #expect(shown.subtracting(known).isEmpty)
      for server in ["verification", "keys", "console"] {
        #expect(metrics.contains(#"firebreak_fault{server="\#(server)",part="database"} 0"#))
      }
      if attempt == 1 {
        servers.send(SIGHUP)
        try await Patience.until {
          messages += receiver.all()
          return messages.count { $0.hasPrefix("READY=1") } == 2
        }
      }
    }
    #expect(try await servers.stop() == 0)
  }

  @Test("Without --metrics-port there is no metrics address; a port in use ends the start with 3")
  func port() async throws {
    let own = try TemporaryFolder()
    let servers = try await ServedFirebreak(folder: own)
    defer { withExtendedLifetime((servers, own)) {} }
    let addresses = try await servers.addresses()
    #expect(addresses["metrics"] == nil)
    let taken = URL(string: addresses["keys"] ?? "")?.port ?? 0
    let folder = try TemporaryFolder()
    let run = try await Run(
      "serve", "--port", "0", "--metrics-port", "\(taken)", "--data", folder.path("data").path)
    #expect(run.status == 3 && run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: folder.path("data").path))
  }

  @Test("promtool accepts the rules and the configuration, and their tests pass")
  func promtool() async throws {
    let folder = Self.rules.deletingLastPathComponent().path
    for command in [
      "check rules firebreak.rules.yml", "check config prometheus.yml",
      "test rules firebreak.rules.test.yml firebreak.rules.days.test.yml",
    ] {
      // With more memory between two collections, the tests of the rules take a fifth less processor time.
      let run = try await Shell.run("cd '\(folder)' && GOGC=800 promtool \(command)")
      #expect(run.status == 0, "\(command): \(run.output)\(run.errors)")
    }
  }

  @Test("Each alert has a test in which it fires and a section of what to do")
  func alerts() throws {
    let rules = try String(contentsOf: Self.rules, encoding: .utf8)
    let alerts = Set(rules.matches(of: #/alert: (\w+)/#).map { String($0.output.1) })
    let tests = try ["firebreak.rules.test.yml", "firebreak.rules.days.test.yml"].map {
      try text("Deployment/prometheus/\($0)")
    }.joined()
    let fired = Set(
      tests.matches(of: #/alertname: (\w+)\s+exp_alerts:\s+- exp_labels/#).map {
        String($0.output.1)
      })
    let page = try text("Documentation/Monitoring.md")
    let sections = Set(page.matches(of: #/### (\w+)/#).map { String($0.output.1) })
    #expect(alerts.count > 20 && alerts == fired && alerts == sections)
  }

  @Test("The rules and the dashboard name no metric that is not exported")
  func names() throws {
    let dashboard = try text("Deployment/grafana/firebreak.json")
    #expect(try JSONSerialization.jsonObject(with: Data(dashboard.utf8)) is [String: Any])
    for text in [try String(contentsOf: Self.rules, encoding: .utf8), dashboard] {
      let unknown = names(in: text).subtracting(try documented())
      #expect(unknown.isEmpty && !names(in: text).isEmpty)
    }
  }
}
