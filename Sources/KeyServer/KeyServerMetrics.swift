// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Logging
import QuietHTTP
import ServerMetrics
import ServerStorage
import Synchronization
import World

/// The metrics of a key server.
///
/// Uploads are shown as the statistics show them: whole days with enough uploads, some days late and rounded. No metric
/// tells that a single upload took place.
final class KeyServerMetrics: Sendable {
  /// The results of the background jobs.
  var jobs: BackgroundJobs { observed.jobs }

  private let observed: KeyServerObservation
  private let store: any KeyStore
  private let statistics: StatisticsRoute
  private let exports: [ExportConfiguration]
  private let clock: any WallClock
  private let days = Mutex<(hour: Int64, families: [MetricFamily])?>(nil)

  init(
    _ observed: KeyServerObservation, store: any KeyStore, statistics: StatisticsRoute,
    exports: [ExportConfiguration], clock: any WallClock
  ) {
    self.observed = observed
    self.store = store
    self.statistics = statistics
    self.exports = exports
    self.clock = clock
  }

  /// The metrics of this moment. Those of a database that cannot be read are left out, and one says so.
  func families(pages: ServiceFailureLog) async -> [MetricFamily] {
    var families = observed.families
    families.append(
      MetricFamily(
        "firebreak_services_failing", .gauge,
        help: "Other services whose last answer was an error, up to ten minutes late.",
        by: "service",
        ["key_page": pages.failingCount]))
    families.append(.clock(clock.now))
    do {
      // A deleted file stays readable as long as it is open.
      guard store.isInPlace() else { throw KeyServerError.lostDatabase }
      families += try await exportFamilies() + dayFamilies()
      families.append(.database(isReadable: true))
    } catch {
      families.append(.database(isReadable: false))
    }
    return families
  }

  private func exportFamilies() async throws -> [MetricFamily] {
    let closed = try await store.exportProgress().closedUntil
    let batches = Dictionary(grouping: try await store.batches(), by: \.export)
    func byExport(_ value: (ExportConfiguration) -> Int64?) -> [MetricSample] {
      exports.compactMap { export in
        value(export).map {
          MetricSample(Double($0), [MetricLabel("export", export.filenameRoot)])
        }
      }
    }
    return [
      MetricFamily(
        "firebreak_export_closed_until_timestamp_seconds", .gauge,
        help: "The end of the last period whose keys are published.",
        byExport { closed[$0.filenameRoot]?.unixSecond }),
      MetricFamily(
        "firebreak_export_period_seconds", .gauge, help: "The length of a period.",
        byExport { Int64($0.periodSeconds) }),
      MetricFamily(
        "firebreak_export_files", .gauge, help: "Key files that are not expired.",
        byExport { Int64(batches[$0.filenameRoot]?.count ?? 0) }),
      MetricFamily(
        "firebreak_export_unwritten_files", .gauge,
        help: "Key files of closed periods that are not written yet.",
        byExport { export in
          Int64((batches[export.filenameRoot] ?? []).count { $0.writtenAt == nil })
        }),
    ]
  }

  /// The newest day of the statistics. It changes once a day and is read once an hour.
  private func dayFamilies() async throws -> [MetricFamily] {
    let hour = clock.now.unixSecond / 3_600
    if let known = days.withLock({ $0 }), known.hour == hour { return known.families }
    let shown = try await statistics.newestDays()
    func samples(_ value: (StatisticsDay) -> Int64?) -> [MetricSample] {
      shown.sorted { $0.key < $1.key }.compactMap { issuer, day in
        value(day).map { MetricSample(Double($0), [MetricLabel("authority", issuer)]) }
      }
    }
    let families = [
      MetricFamily(
        "firebreak_statistics_day_timestamp_seconds", .gauge,
        help: "The start of the newest day of the statistics.",
        samples { Self.start(of: $0)?.unixSecond }),
      MetricFamily(
        "firebreak_statistics_uploads", .gauge,
        help: "Uploads of the newest day of the statistics, rounded as there.",
        shown.sorted { $0.key < $1.key }.flatMap { issuer, day in
          Self.byPlatform(day).map {
            MetricSample(
              Double($0.1), [MetricLabel("authority", issuer), MetricLabel("platform", $0.0)])
          }
        }),
      MetricFamily(
        "firebreak_statistics_keys", .gauge,
        help: "New keys of the newest day of the statistics, rounded as there.",
        samples { Int64($0.totalTEKsPublished) }),
    ]
    days.withLock { $0 = (hour, families) }
    return families
  }

  private static func byPlatform(_ day: StatisticsDay) -> [(String, Int)] {
    [
      ("android", day.publishRequests.android), ("ios", day.publishRequests.ios),
      ("unknown", day.publishRequests.unknown),
    ]
  }

  private static func start(of day: StatisticsDay) -> Date? {
    // The day is text that the server wrote.
    try? Date(day.day, strategy: .iso8601)
  }
}

/// The counts and the faults of a running key server.
struct KeyServerObservation: Sendable {
  let requests: RequestMetrics
  let refusals: RefusalLog
  let faults: ServerHealth
  let jobs: BackgroundJobs

  init(clock: any WallClock, randomness: any Randomness, logger: Logger) {
    requests = RequestMetrics(clock: clock, randomness: randomness)
    refusals = RefusalLog(
      of: "uploads", causes: RefusalCause.names, clock: clock, randomness: randomness,
      logger: logger)
    faults = ServerHealth(logger: logger, server: "KeyServer")
    jobs = BackgroundJobs([.export, .cleanup, .check, .keyPull], clock: clock)
  }

  var families: [MetricFamily] {
    jobs.families + requests.families + [refusals.family, faults.family]
  }
}
