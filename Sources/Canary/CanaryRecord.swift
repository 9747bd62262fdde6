// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServerMetrics
import World

/// The results of the rounds so far, in a file, and as metrics.
package struct CanaryRecord: Codable, Hashable, Sendable {
  /// Unix seconds of the end of the last complete round; nil before the first.
  package private(set) var succeededAt: Int64?
  /// Unix seconds of the end of the last round.
  package private(set) var endedAt: Int64?
  /// The step at which the last round failed; nil if it was complete.
  package private(set) var failed: String?
  /// The time from the upload to the notice in the last complete round.
  package private(set) var noticeSeconds: Double?

  package init() {}

  /// Reads the record in `file`; an empty one if there is none or it is damaged.
  package init(in file: URL) {
    let stored = FileManager.default.contents(atPath: file.path)
    // A damaged record is that of a canary that never succeeded, which alerts.
    self =
      stored.flatMap { try? JSONDecoder().decode(CanaryRecord.self, from: $0) } ?? CanaryRecord()
  }

  /// Stores the record.
  ///
  /// - Throws: `FileError` or `EncodingError`.
  package func write(to file: URL) throws {
    try AtomicFile.write(try JSONEncoder().encode(self), to: file)
  }

  /// Adds the result of a round that ended at `now`.
  package mutating func add(_ result: CanaryRound.Result, at now: Date) {
    endedAt = now.unixSecond
    failed = result.failed?.rawValue
    guard result.failed == nil else { return }
    succeededAt = now.unixSecond
    noticeSeconds = result.seconds
  }

  /// The metrics in the text format of Prometheus, for the folder of files that its node exporter reads.
  package var metricsText: String { MetricsText(families).text }

  /// The metrics.
  package var families: [MetricFamily] {
    func gauge(_ name: String, _ help: String, _ value: Double?) -> MetricFamily {
      MetricFamily(name, .gauge, help: help, value.map { [MetricSample($0)] } ?? [])
    }
    return [
      gauge(
        "firebreak_canary_last_success_timestamp_seconds",
        "The end of the last complete round of the canary; 0 before the first.",
        Double(succeededAt ?? 0)),
      gauge(
        "firebreak_canary_last_round_timestamp_seconds", "The end of the last round of the canary.",
        endedAt.map { Double($0) }),
      gauge(
        "firebreak_canary_notice_seconds",
        "The time from the upload to the notice in the last complete round.", noticeSeconds),
      MetricFamily(
        "firebreak_canary_failed", .gauge, help: "1 for the step at which the last round failed.",
        by: "step",
        Dictionary(
          uniqueKeysWithValues: CanaryRound.Step.allCases.map {
            ($0.rawValue, $0.rawValue == failed ? 1 : 0)
          })),
    ]
  }
}
