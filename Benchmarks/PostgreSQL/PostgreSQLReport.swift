// SPDX-License-Identifier: Apache-2.0
import Bench
import Terminal

/// The result of `postgresql`, as `--json` prints it.
struct PostgreSQLReport: MeasurementReport {
  /// The export of one file from PostgreSQL.
  struct Export: Encodable {
    let keys: Int
    let seconds: Double
    /// The processor time of the key server.
    let serverSeconds: Double
    /// The processor time of PostgreSQL.
    let databaseSeconds: Double
    /// The peak of the key server without the program and its libraries; nil if it does not state them.
    let ownMemoryMiB: Double?
    /// Nil if the key server does not state them.
    let zlib: ZlibTimes?

    var processorSeconds: Double { (serverSeconds + databaseSeconds).rounded(to: 3) }

    var text: String {
      "PostgreSQL, export of \(keys) keys: \(seconds) s, server \(serverSeconds) s, PostgreSQL"
        + " \(databaseSeconds) s" + (ownMemoryMiB.map { ", \($0) MiB without the program" } ?? "")
    }
  }

  /// 700 µs, on the machine on which an upload to SQLite took 520.
  private static let processorBesideSQLite = 1.35

  let build = BuildKind.current
  let uploads: Int
  let sqlite8: MeasuredUploads
  let sqlite32: MeasuredUploads
  let postgreSQL8: MeasuredUploads
  let postgreSQL32: MeasuredUploads
  let twoProcesses: MeasuredUploads
  let threeProcesses: MeasuredUploads
  let growth: [UploadGrowth]
  let sqliteGrowth: [UploadGrowth]
  /// Nil if it was not measured.
  let export: Export?
  /// The rate with PostgreSQL divided by that with SQLite, at 32 connections.
  let rateBesideSQLite: Double
  /// The rate of two processes divided by that of one.
  let rateOfTwoProcesses: Double
  /// The rate of three processes divided by that of one.
  let rateOfThreeProcesses: Double
  /// The processor time of server and PostgreSQL by upload, at 32 connections.
  let processorMicroseconds: Double
  /// The rates of the growth with PostgreSQL divided by the first one.
  let ratesBesideFirst: [Double]
  /// All figures beside their targets, which are for certain numbers of keys.
  let figures: [JudgedFigure]

  init(
    uploads: Int, sqlite8: MeasuredUploads, sqlite32: MeasuredUploads, postgreSQL8: MeasuredUploads,
    postgreSQL32: MeasuredUploads, twoProcesses: MeasuredUploads, threeProcesses: MeasuredUploads,
    growth: [UploadGrowth], sqliteGrowth: [UploadGrowth], export: Export?
  ) {
    self.uploads = uploads
    (self.sqlite8, self.sqlite32) = (sqlite8, sqlite32)
    (self.postgreSQL8, self.postgreSQL32) = (postgreSQL8, postgreSQL32)
    (self.twoProcesses, self.threeProcesses) = (twoProcesses, threeProcesses)
    (self.growth, self.sqliteGrowth) = (growth, sqliteGrowth)
    self.export = export
    rateBesideSQLite = postgreSQL32.rate(beside: sqlite32)
    rateOfTwoProcesses = twoProcesses.rate(beside: postgreSQL32)
    rateOfThreeProcesses = threeProcesses.rate(beside: postgreSQL32)
    processorMicroseconds =
      (postgreSQL32.serverMicroseconds + postgreSQL32.databaseMicroseconds).rounded(to: 1)
    ratesBesideFirst = growth.ratesBesideFirst
    let tails = [
      ("SQLite, 8 connections", sqlite8), ("SQLite, 32 connections", sqlite32),
      ("PostgreSQL, 8 connections", postgreSQL8), ("PostgreSQL, 32 connections", postgreSQL32),
    ]
    figures =
      [
        JudgedFigure("PostgreSQL beside SQLite, rate", rateBesideSQLite, .atLeast(0.8)),
        JudgedFigure("two processes beside one, rate", rateOfTwoProcesses, .atLeast(0.9)),
        JudgedFigure("three processes beside one, rate", rateOfThreeProcesses, nil),
        JudgedFigure("processor time of an upload, µs", processorMicroseconds, .atMost(700)),
        JudgedFigure(
          "processor time of an upload, PostgreSQL beside SQLite",
          (processorMicroseconds / max(sqlite32.serverMicroseconds, 1)).rounded(to: 2),
          .atMost(Self.processorBesideSQLite)),
      ] + growth.figures(of: "PostgreSQL", at: 12_000_000, .atLeast(0.7))
      + sqliteGrowth.figures(of: "SQLite", at: 2_500_000, .atLeast(0.6))
      + Self.figures(export)
      + tails.map { JudgedFigure("\($0), p99 beside p50", $1.tail, .atMost(5)) }
  }

  private static func figures(_ export: Export?) -> [JudgedFigure] {
    guard let export else { return [] }
    return MeasuredExport.figures(
      export.keys, processorSeconds: export.processorSeconds, atMost: 1, zlib: export.zlib,
      ownMemoryMiB: export.ownMemoryMiB)
  }

  /// The uploads that were not accepted.
  var failed: Int {
    ([sqlite8, sqlite32, postgreSQL8, postgreSQL32, twoProcesses, threeProcesses]
      + (growth + sqliteGrowth).map(\.uploads))
      .reduce(0) { $0 + $1.failed }
  }

  var text: String {
    let rows = [
      ("SQLite, 8 connections", sqlite8), ("SQLite, 32", sqlite32),
      ("PostgreSQL, 8", postgreSQL8), ("PostgreSQL, 32", postgreSQL32),
      ("two processes, 16 each", twoProcesses), ("three processes, 10 each", threeProcesses),
    ]
    let grown =
      growth.map { ("PostgreSQL, \($0.storedKeys) keys stored", $0.uploads) }
      + sqliteGrowth.map { ("SQLite, \($0.storedKeys) keys stored", $0.uploads) }
    let lines = (rows + grown).map { "\($0): \($1.text)" }
    return (lines + [export?.text].compactMap(\.self) + figures.map(\.text)).joined(separator: "\n")
  }

  private enum CodingKeys: CodingKey {
    case build, uploads, sqlite8, sqlite32, postgreSQL8, postgreSQL32, twoProcesses
    case threeProcesses, growth, sqliteGrowth, export, rateBesideSQLite, rateOfTwoProcesses
    case rateOfThreeProcesses, processorMicroseconds, ratesBesideFirst, figures
  }
}
