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
  /// The addresses with TLS by server; absent without TLS.
  let tls: [String: String]?

  /// The addresses of the servers, of the metrics and with TLS.
  init(
    _ ports: ServerPorts, hosts: [ServerName: String], metricsHost: String,
    tlsHosts: [ServerName: String]
  ) {
    func url(_ host: String?, _ port: Int?, scheme: String = "http") -> String? {
      guard let host else { return nil }
      return port.map { "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\($0)" }
    }
    let secured = ports.secured.map { name, port in
      (name.rawValue, url(tlsHosts[name], port, scheme: "https") ?? "")
    }
    tls = secured.isEmpty ? nil : Dictionary(uniqueKeysWithValues: secured)
    verification = url(hosts[.verification], ports.verification)
    keys = url(hosts[.keys], ports.keys)
    console = url(hosts[.console], ports.console)
    metrics = url(metricsHost, ports.metrics)
  }

  var text: String {
    let servers = [
      ("verification server", verification), ("key server", keys), ("console", console),
    ]
    let lines = servers.compactMap { name, url in
      url.map { "The \(name) listens on \($0)." }
    }
    let secured = (tls ?? [:]).sorted { $0.key < $1.key }
      .map { "The server \($0.key) listens with TLS on \($0.value)." }
    let page = metrics.map { "Metrics are at \($0)\(MetricsEndpoint.path)." }
    return (lines + secured + [page].compactMap(\.self) + ["Press Ctrl-C to stop."]).joined(
      separator: "\n")
  }

  private enum CodingKeys: CodingKey {
    case ready, verification, keys, console, metrics, tls
  }
}
