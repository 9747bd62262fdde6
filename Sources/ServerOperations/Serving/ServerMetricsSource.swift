// SPDX-License-Identifier: Apache-2.0
import Foundation
import HealthAuthorityConsole
import KeyServer
import Logging
import QuietHTTP
import ServerMetrics
import VerificationServer
import World

/// The metrics of the servers of one process, each with the label `server`, of their folder and of the process.
package struct ServerMetricsSource: Sendable {
  let verification: VerificationServer?
  let keys: KeyServer?
  let console: HealthAuthorityConsole?
  let realms: RealmServers
  let folder: FolderMetrics
  /// The end of the validity of the certificate in use; nil without TLS.
  let certificateExpiresAt: Date?
  /// The version of the program and its commit, which may be empty.
  let version: (number: String, commit: String)

  package init(
    verification: VerificationServer?, keys: KeyServer?, console: HealthAuthorityConsole?,
    realms: RealmServers = RealmServers(), of folder: ServerFolder, certificateExpiresAt: Date?,
    version: (number: String, commit: String)
  ) {
    self.verification = verification
    self.keys = keys
    self.console = console
    self.realms = realms
    self.certificateExpiresAt = certificateExpiresAt
    self.version = version
    let running: [(ServerName, Bool)] = [
      (.verification, verification != nil), (.keys, keys != nil), (.console, console != nil),
    ]
    self.folder = FolderMetrics(folder: folder, servers: running.filter(\.1).map(\.0))
  }

  /// The metrics of this moment.
  package func families() async -> [MetricFamily] {
    func labeled(_ families: [MetricFamily]?, _ server: ServerName) -> [MetricFamily] {
      (families ?? []).map { $0.labeled("server", server.rawValue) }
    }
    var families = labeled(await verification?.families(), .verification)
    families += labeled(await keys?.families(), .keys)
    families += labeled(console?.families(), .console)
    families += await realmFamilies()
    return families + ownFamilies + folder.families
      + ProcessMetrics.families(at: SystemClock().now)
  }

  /// The metrics of the servers of realms, with the label `realm` before `server`.
  private func realmFamilies() async -> [MetricFamily] {
    var families: [MetricFamily] = []
    for name in realms.names {
      var own: [MetricFamily] = []
      if let server = realms.verification.servers[name] {
        own += await server.families().map {
          $0.labeled("server", ServerName.verification.rawValue)
        }
      }
      if let server = realms.consoles.servers[name] {
        own += server.families().map { $0.labeled("server", ServerName.console.rawValue) }
      }
      let folder = FolderMetrics(
        folder: folder.folder.folder(ofRealm: name), servers: realms.servers(of: name))
      own += folder.databaseFamilies + [realms.state(of: name)]
      families += own.map { $0.labeled("realm", name) }
    }
    return families
  }

  /// The metrics of the program and its certificate.
  private var ownFamilies: [MetricFamily] {
    let build = [MetricLabel("version", version.number), MetricLabel("commit", version.commit)]
    // Without TLS there is no sample, and the text leaves the metric out.
    let end = certificateExpiresAt.map { MetricSample(Double($0.unixSecond)) }
    return [
      MetricFamily(
        "firebreak_build_info", .gauge, help: "The version of the program.",
        [MetricSample(1, build)]),
      MetricFamily(
        "firebreak_tls_certificate_expiry_timestamp_seconds", .gauge,
        help: "The end of the validity of the certificate that the servers use for TLS.",
        [end].compactMap(\.self)),
    ]
  }

  /// An endpoint for the metrics, which listens when it is run.
  package func endpoint(host: String, port: Int, logger: Logger) -> MetricsEndpoint {
    MetricsEndpoint(
      host: host, port: port, randomness: SystemRandomness(), logger: logger,
      collect: { await families() })
  }
}
