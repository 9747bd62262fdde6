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

  /// The export of one file from PostgreSQL.
  struct Export: Encodable {
    let keys: Int
    let seconds: Double
    /// The processor time of the key server.
    let serverSeconds: Double
    /// The processor time of PostgreSQL.
    let databaseSeconds: Double
    /// The peak of the key server.
    let peakMemoryMiB: Double

    var processorSeconds: Double { (serverSeconds + databaseSeconds).rounded(to: 3) }

    var text: String {
      "PostgreSQL, export of \(keys) keys: \(seconds) s, server \(serverSeconds) s, PostgreSQL"
        + " \(databaseSeconds) s, \(peakMemoryMiB) MiB"
    }
  }

  /// A figure with a target.
  struct Figure: Encodable {
    let name: String
    let value: Double
    /// The target, such as "at least 0.8"; nil if only the figure of another number of keys has one.
    let target: String?
    let holds: Bool

    init(_ name: String, _ value: Double, _ bound: BenchmarkTarget.Bound?) {
      (self.name, self.value) = (name, value)
      (target, holds) = (bound?.text, bound?.holds(for: value) ?? true)
    }

    var text: String {
      guard let target else { return "\(name): \(value)" }
      return "\(name): \(value), target \(target): \(holds ? "holds" : "FAILS")"
    }
  }

  let build = BuildKind.current
  let uploads: Int
  let sqlite8: Uploads
  let sqlite32: Uploads
  let postgreSQL8: Uploads
  let postgreSQL32: Uploads
  let twoProcesses: Uploads
  let growth: [Growth]
  let sqliteGrowth: [Growth]
  /// Nil if it was not measured.
  let export: Export?
  /// The rate with PostgreSQL divided by that with SQLite, at 32 connections.
  let rateBesideSQLite: Double
  /// The rate of two processes divided by that of one.
  let rateOfTwoProcesses: Double
  /// The processor time of server and PostgreSQL by upload, at 32 connections.
  let processorMicroseconds: Double
  /// The rates of the growth with PostgreSQL divided by the first one.
  let ratesBesideFirst: [Double]
  /// All figures beside their targets, which are for certain numbers of keys.
  let figures: [Figure]

  init(
    uploads: Int, sqlite8: Uploads, sqlite32: Uploads, postgreSQL8: Uploads,
    postgreSQL32: Uploads, twoProcesses: Uploads, growth: [Growth], sqliteGrowth: [Growth],
    export: Export?
  ) {
    self.uploads = uploads
    (self.sqlite8, self.sqlite32) = (sqlite8, sqlite32)
    (self.postgreSQL8, self.postgreSQL32) = (postgreSQL8, postgreSQL32)
    (self.twoProcesses, self.growth, self.sqliteGrowth) = (twoProcesses, growth, sqliteGrowth)
    self.export = export
    rateBesideSQLite = Self.ratio(postgreSQL32, sqlite32)
    rateOfTwoProcesses = Self.ratio(twoProcesses, postgreSQL32)
    processorMicroseconds =
      (postgreSQL32.serverMicroseconds + postgreSQL32.databaseMicroseconds).rounded(to: 1)
    ratesBesideFirst = Self.rates(growth)
    let tails = [
      ("SQLite, 8 connections", sqlite8), ("SQLite, 32 connections", sqlite32),
      ("PostgreSQL, 8 connections", postgreSQL8), ("PostgreSQL, 32 connections", postgreSQL32),
    ]
    figures =
      [
        Figure("PostgreSQL beside SQLite, rate", rateBesideSQLite, .atLeast(0.8)),
        Figure("two processes beside one, rate", rateOfTwoProcesses, .atLeast(0.9)),
        Figure("processor time of an upload, µs", processorMicroseconds, .atMost(700)),
      ] + Self.figures("PostgreSQL", growth, at: 12_000_000, .atLeast(0.7))
      + Self.figures("SQLite", sqliteGrowth, at: 2_500_000, .atLeast(0.6))
      + Self.figures(export) + tails.map { Figure("\($0), p99 beside p50", $1.tail, .atMost(5)) }
  }

  /// The rates divided by the first one.
  private static func rates(_ growth: [Growth]) -> [Double] {
    growth.map { ratio($0.uploads, (growth.first ?? $0).uploads) }
  }

  /// The rates beside the first one. That with `judgedKeys` stored keys beside none has a target.
  private static func figures(
    _ database: String, _ growth: [Growth], at judgedKeys: Int, _ bound: BenchmarkTarget.Bound
  ) -> [Figure] {
    zip(growth, rates(growth)).dropFirst().map { grown, rate in
      let first = growth.first?.storedKeys ?? 0
      return Figure(
        "\(database), \(grown.storedKeys) keys beside \(first), rate", rate,
        first == 0 && grown.storedKeys == judgedKeys ? bound : nil)
    }
  }

  /// The number of keys for which the targets of an export were set.
  private static let judgedExportKeys = 500_000

  private static func figures(_ export: Export?) -> [Figure] {
    guard let export else { return [] }
    let isJudged = export.keys == judgedExportKeys
    return [
      Figure(
        "export of \(export.keys) keys, processor time, s", export.processorSeconds,
        isJudged ? BenchmarkTarget.Bound.atMost(1) : nil),
      Figure(
        "export of \(export.keys) keys, peak, MiB", export.peakMemoryMiB,
        isJudged ? BenchmarkTarget.Bound.atMost(64) : nil),
    ]
  }

  private static func ratio(_ first: Uploads, _ second: Uploads) -> Double {
    (first.perSecond / max(second.perSecond, 0.001)).rounded(to: 2)
  }

  /// The uploads that were not accepted.
  var failed: Int {
    ([sqlite8, sqlite32, postgreSQL8, postgreSQL32, twoProcesses]
      + (growth + sqliteGrowth).map(\.uploads))
      .reduce(0) { $0 + $1.failed }
  }

  var text: String {
    let rows = [
      ("SQLite, 8 connections", sqlite8), ("SQLite, 32", sqlite32),
      ("PostgreSQL, 8", postgreSQL8), ("PostgreSQL, 32", postgreSQL32),
      ("two processes, 16 each", twoProcesses),
    ]
    let grown =
      growth.map { ("PostgreSQL, \($0.storedKeys) keys stored", $0.uploads) }
      + sqliteGrowth.map { ("SQLite, \($0.storedKeys) keys stored", $0.uploads) }
    let lines = (rows + grown).map { "\($0): \($1.text)" }
    return (lines + [export?.text].compactMap(\.self) + figures.map(\.text)).joined(separator: "\n")
  }

  private enum CodingKeys: CodingKey {
    case build, uploads, sqlite8, sqlite32, postgreSQL8, postgreSQL32, twoProcesses, growth
    case sqliteGrowth, export, rateBesideSQLite, rateOfTwoProcesses, processorMicroseconds
    case ratesBesideFirst, figures
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
