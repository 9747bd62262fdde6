// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import World

/// The results of a server's background jobs, such as exports: the last success and the number of failures of each.
package final class BackgroundJobs: Sendable {
  /// The name of a job.
  package enum Job: String, Sendable {
    /// Publishes the keys of the periods that have ended.
    case export
    /// Deletes expired data.
    case cleanup
    /// Checks the stored data for damage.
    case check
    /// Reads the keys that other authorities publish.
    case keyPull = "key_pull"
    /// Copies the audit log to a place outside the database.
    case auditCopy = "audit_copy"
    /// Writes the head of the audit log to the log.
    case auditReport = "audit_report"
  }

  private struct Record {
    var succeededAt: Date?
    var failures = 0
  }

  private let clock: any WallClock
  private let records: Mutex<[Job: Record]>

  /// Creates records for `jobs`, none of which has run.
  package init(_ jobs: [Job], clock: any WallClock) {
    self.clock = clock
    records = Mutex(Dictionary(jobs.map { ($0, Record()) }, uniquingKeysWith: { $1 }))
  }

  /// Records the end of a run.
  package func ended(_ job: Job, succeeded: Bool) {
    let now = clock.now
    records.withLock { records in
      if succeeded {
        records[job, default: Record()].succeededAt = now
      } else {
        records[job, default: Record()].failures += 1
      }
    }
  }

  /// Runs `work` and records its end. A cancelled run is neither a success nor a failure.
  package func record<Value: Sendable>(
    _ job: Job, isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Value
  ) async throws -> Value {
    do {
      let value = try await work()
      ended(job, succeeded: true)
      return value
    } catch {
      if !(error is CancellationError) { ended(job, succeeded: false) }
      throw error
    }
  }

  /// The times and counts as metrics.
  package var families: [MetricFamily] {
    let records = records.withLock { $0 }
    func byJob(_ value: (Record) -> Int64) -> [String: Int64] {
      Dictionary(
        records.map { ($0.key.rawValue, value($0.value)) }, uniquingKeysWith: { $1 })
    }
    return [
      MetricFamily(
        "firebreak_job_last_success_timestamp_seconds", .gauge,
        help: "The end of the last successful run of a background job; 0 before the first one.",
        by: "task", byJob { $0.succeededAt?.unixSecond ?? 0 }),
      MetricFamily(
        "firebreak_job_failures_total", .counter, help: "Failed runs of a background job.",
        by: "task", byJob { Int64($0.failures) }),
    ]
  }
}
