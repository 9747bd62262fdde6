// SPDX-License-Identifier: Apache-2.0
import Logging
import ServerMetrics
import Synchronization

/// The faults of a server that an operator has to repair: logged when they appear, and readable at any time.
package final class ServerHealth: Sendable {
  /// The parts that can be damaged.
  package enum Part: String, CaseIterable, Sendable {
    /// The structure of the database, or its file.
    case database
    /// The connection to the server of the database.
    case connection
    /// The write-ahead log of the database.
    case log
    /// Single rows of the database.
    case rows
    /// The published files.
    case files
    /// The machine's clock.
    case clock
    /// The copy of the audit log outside the database.
    case auditCopy = "audit_copy"
    /// The stored apps and authorities.
    case registry
    /// The keys that sign, in the configuration.
    case secrets
    /// The tokens with keys that sign.
    case signing
    /// The closing of periods.
    case exports
    /// The changes that other processes have made.
    case sharedState = "shared_state"
  }

  private let logger: Logger
  private let server: String
  private let reported = Mutex<[Part: String]>([:])

  /// - Parameter server: The name of the server in the log.
  package init(logger: Logger, server: String) {
    self.logger = logger
    self.server = server
  }

  /// Sets the fault of `part`; nil if it has none. A fault is logged when it appears or changes.
  package func report(_ fault: String?, of part: Part) {
    let before = reported.withLock { reported in
      defer { reported[part] = fault }
      return reported[part]
    }
    guard before != fault else { return }
    if let fault {
      logger.error("\(fault)", source: server)
    } else {
      logger.notice("the fault of the \(part.rawValue) is repaired", source: server)
    }
  }

  /// The parts that have a fault.
  package var faultyParts: Set<Part> { Set(reported.withLock { $0.keys }) }

  /// Parts whose state only `/ready` reports.
  private static let probedParts: Set<Part> = [.secrets, .exports, .sharedState]

  /// The faults as a metric.
  package var family: MetricFamily {
    let reported = reported.withLock { $0 }
    return MetricFamily(
      "firebreak_fault", .gauge, help: "1 if a part has a fault that an operator has to repair.",
      by: "part",
      Dictionary(
        uniqueKeysWithValues: Part.allCases.filter { !Self.probedParts.contains($0) }
          .map { ($0.rawValue, reported[$0] == nil ? 0 : 1) }))
  }

  /// The present faults, one sentence for each.
  package var faults: [String] {
    let reported = reported.withLock { $0 }
    return Part.allCases.compactMap { reported[$0] }
  }
}
