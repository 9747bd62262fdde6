// SPDX-License-Identifier: Apache-2.0
import Bench

/// The uploads of one measurement.
struct MeasuredUploads: Encodable {
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

  /// The rate divided by that of `other`.
  func rate(beside other: MeasuredUploads) -> Double {
    (perSecond / max(other.perSecond, 0.001)).rounded(to: 2)
  }

  var text: String {
    let database = databaseMicroseconds > 0 ? ", PostgreSQL \(databaseMicroseconds) µs" : ""
    return "\(perSecond) a second, p99 \(p99Milliseconds) ms (\(tail) x p50), server"
      + " \(serverMicroseconds) µs\(database)"
  }
}

extension MeasuredUploads {
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

/// The measurement with a number of stored keys.
struct UploadGrowth: Encodable {
  let storedKeys: Int
  let uploads: MeasuredUploads
}

extension [UploadGrowth] {
  /// The rates divided by the first one.
  var ratesBesideFirst: [Double] {
    map { $0.uploads.rate(beside: (first ?? $0).uploads) }
  }

  /// The rates beside the first one. That with `judgedKeys` stored keys beside none has a target.
  func figures(
    of database: String, at judgedKeys: Int, _ bound: BenchmarkTarget.Bound
  ) -> [JudgedFigure] {
    zip(self, ratesBesideFirst).dropFirst().map { grown, rate in
      let first = first?.storedKeys ?? 0
      return JudgedFigure(
        "\(database), \(grown.storedKeys) keys beside \(first), rate", rate,
        first == 0 && grown.storedKeys == judgedKeys ? bound : nil)
    }
  }
}
