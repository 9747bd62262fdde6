// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import ServerMetrics
import ServerStorage
import World

/// The metrics of a verification server.
///
/// Codes are shown as the statistics of uploads are: of the newest day that ended two days ago and has enough codes,
/// and rounded. No metric tells that a single code was issued or used.
struct VerificationMetrics: Sendable {
  let jobs: BackgroundJobs
  let requests: RequestMetrics
  let refusals: RefusalLog
  let faults: ServerHealth
  /// The wrong codes of all clients.
  let guesses: FailureBudget
  let sms: ServiceFailureLog?
  let storage: any CodeStorage
  let clock: any WallClock

  /// The metrics of this moment. Those of a database that cannot be read are left out, and one says so.
  func families() async -> [MetricFamily] {
    var families = jobs.families + requests.families + [refusals.family, faults.family]
    families.append(await budget)
    if let sms {
      families.append(
        MetricFamily(
          "firebreak_services_failing", .gauge,
          help: "Other services whose last answer was an error, up to ten minutes late.",
          by: "service",
          ["sms_gateway": sms.failingCount]))
    }
    families.append(.clock(clock.now))
    do {
      families += Self.codes(try await storage.counts(), at: clock.now)
      families.append(.database(isReadable: true))
    } catch {
      families.append(.database(isReadable: false))
    }
    return families
  }

  /// The used share of the wrong codes, in quarters: with a small budget, a hundredth would be a single code.
  private var budget: MetricFamily {
    get async {
      MetricFamily(
        "firebreak_failure_budget_used_ratio", .gauge,
        help: "The share of the wrong codes of a window that is used up, in quarters.",
        [MetricSample(Self.quarters(await guesses.pressure), [MetricLabel("budget", "codes")])])
    }
  }

  /// `share` rounded down to a multiple of a quarter, at which the limits of addresses change.
  static func quarters(_ share: Double) -> Double { (share * 4).rounded(.down) / 4 }

  /// The codes of the newest day that may be shown, by step.
  static func codes(_ counts: [CodeCounts], at now: Date) -> [MetricFamily] {
    let last = CodeCounts.day(of: now.unixSecond - VerificationLimit.shownCodesDelaySeconds) - 1
    let shown = counts.filter { $0.day <= last && $0.issued >= VerificationLimit.shownCodesMin }
      .max { $0.day < $1.day }
    let start = shown.map { [MetricSample(Double($0.day) * Date.unixDaySeconds)] } ?? []
    return [
      MetricFamily(
        "firebreak_statistics_codes_day_timestamp_seconds", .gauge,
        help: "The start of the newest day of which codes are shown.", start),
      MetricFamily(
        "firebreak_statistics_codes", .gauge,
        help: "Codes of that day by step, rounded down to a multiple of ten.", by: "step",
        shown.map {
          [
            "issued": $0.issued, "claimed": $0.claimed, "certified": $0.tokensClaimed,
          ].mapValues { $0 / CoarseCounts.step * CoarseCounts.step }
        } ?? [:]),
    ]
  }
}
