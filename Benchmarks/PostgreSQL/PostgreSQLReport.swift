// SPDX-License-Identifier: Apache-2.0
import Bench
import Terminal

/// The result of `postgresql`, as `--json` prints it.
struct PostgreSQLReport: MeasurementReport {
  static let keysPerUpload = 14

  /// One measurement.
  struct Uploads: Encodable {
    let perSecond: Double
    let p50Milliseconds: Double
    let p99Milliseconds: Double
    /// The processor time of the key servers by upload.
    let serverMicroseconds: Double
    /// The processor time of PostgreSQL by upload; 0 with SQLite, which is a part of the server.
    let databaseMicroseconds: Double
    let failed: Int

    /// The p99 divided by the p50.
    var tail: Double { (p99Milliseconds / max(p50Milliseconds, 0.001)).rounded(to: 2) }

    var text: String {
      "\(perSecond) a second, p99 \(p99Milliseconds) ms (\(tail) x p50), server \(serverMicroseconds) µs, PostgreSQL"
        + " \(databaseMicroseconds) µs"
    }
  }

  /// The measurement with a number of stored keys.
  struct Growth: Encodable {
    let storedKeys: Int
    let uploads: Uploads
  }

  let build = BuildKind.current
  let uploads: Int
  let sqlite8: Uploads
  let sqlite32: Uploads
  let postgreSQL8: Uploads
  let postgreSQL32: Uploads
  let twoProcesses: Uploads
  let growth: [Growth]
  /// The rate with PostgreSQL divided by that with SQLite, at 32 connections.
  let rateBesideSQLite: Double
  /// The rate of two processes divided by that of one.
  let rateOfTwoProcesses: Double
  /// The processor time of server and PostgreSQL by upload, at 32 connections.
  let processorMicroseconds: Double
  /// The rates of the growth divided by the first one.
  let ratesBesideFirst: [Double]

  init(
    uploads: Int, sqlite8: Uploads, sqlite32: Uploads, postgreSQL8: Uploads,
    postgreSQL32: Uploads, twoProcesses: Uploads, growth: [Growth]
  ) {
    self.uploads = uploads
    (self.sqlite8, self.sqlite32) = (sqlite8, sqlite32)
    (self.postgreSQL8, self.postgreSQL32) = (postgreSQL8, postgreSQL32)
    (self.twoProcesses, self.growth) = (twoProcesses, growth)
    rateBesideSQLite = Self.ratio(postgreSQL32, sqlite32)
    rateOfTwoProcesses = Self.ratio(twoProcesses, postgreSQL32)
    processorMicroseconds =
      (postgreSQL32.serverMicroseconds + postgreSQL32.databaseMicroseconds).rounded(to: 1)
    let first = growth.first
    ratesBesideFirst = growth.map { Self.ratio($0.uploads, (first ?? $0).uploads) }
  }

  private static func ratio(_ first: Uploads, _ second: Uploads) -> Double {
    (first.perSecond / max(second.perSecond, 0.001)).rounded(to: 2)
  }

  /// The uploads that were not accepted.
  var failed: Int {
    ([sqlite8, sqlite32, postgreSQL8, postgreSQL32, twoProcesses] + growth.map(\.uploads))
      .reduce(0) { $0 + $1.failed }
  }

  var text: String {
    let rows = [
      ("SQLite, 8 connections", sqlite8), ("SQLite, 32", sqlite32),
      ("PostgreSQL, 8", postgreSQL8), ("PostgreSQL, 32", postgreSQL32),
      ("two processes, 16 each", twoProcesses),
    ]
    let grown = growth.map { ("\($0.storedKeys) keys stored", $0.uploads) }
    let lines = (rows + grown).map { "\($0): \($1.text)" }
    let ratios = ratesBesideFirst.map { "\($0)" }.joined(separator: ", ")
    return
      (lines + [
        "PostgreSQL beside SQLite \(rateBesideSQLite), two processes beside one \(rateOfTwoProcesses)",
        "processor time by upload \(processorMicroseconds) µs, rates by stored keys \(ratios)",
      ]).joined(separator: "\n")
  }

  private enum CodingKeys: CodingKey {
    case build, uploads, sqlite8, sqlite32, postgreSQL8, postgreSQL32, twoProcesses, growth
    case rateBesideSQLite, rateOfTwoProcesses, processorMicroseconds, ratesBesideFirst
  }
}

extension PostgreSQLReport.Uploads {
  init(_ exchanges: [UploadExchange], wall: Duration, server: Duration, database: Duration) {
    let count = max(1, exchanges.count)
    let accepted = exchanges.filter { $0.response?.status == 200 }
    let times = Distribution(accepted.map { $0.duration / .milliseconds(1) })
    perSecond = (Double(accepted.count) / (wall / .seconds(1))).rounded(to: 1)
    p50Milliseconds = times.percentile(50).rounded(to: 3)
    p99Milliseconds = times.percentile(99).rounded(to: 3)
    serverMicroseconds = (server / .microseconds(count)).rounded(to: 1)
    databaseMicroseconds = (database / .microseconds(count)).rounded(to: 1)
    failed = exchanges.count - accepted.count
  }
}
