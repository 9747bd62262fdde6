// SPDX-License-Identifier: Apache-2.0
import QuietHTTP
import ServerOperations

/// The addresses of the servers: the first line that `serve` prints.
struct ServerAddresses: Encodable {
  let ready = true
  let verification: String?
  let keys: String?
  let console: String?
  /// Absent without metrics.
  let metrics: String?

  /// The addresses of servers on `host`, and those of the console and of the metrics on their own hosts.
  init(_ ports: ServerPorts, host: String, consoleHost: String, metricsHost: String) {
    func url(_ host: String, _ port: Int?) -> String? {
      port.map { "http://\(host.contains(":") ? "[\(host)]" : host):\($0)" }
    }
    verification = url(host, ports.verification)
    keys = url(host, ports.keys)
    console = url(consoleHost, ports.console)
    metrics = url(metricsHost, ports.metrics)
  }

  var text: String {
    let servers = [
      ("verification server", verification), ("key server", keys), ("console", console),
    ]
    let lines = servers.compactMap { name, url in
      url.map { "The \(name) listens on \($0)." }
    }
    let page = metrics.map { "Metrics are at \($0)\(MetricsEndpoint.path)." }
    return (lines + [page].compactMap(\.self) + ["Press Ctrl-C to stop."]).joined(separator: "\n")
  }

  private enum CodingKeys: CodingKey {
    case ready, verification, keys, console, metrics
  }
}
