// SPDX-License-Identifier: Apache-2.0
import Foundation
import World

/// The state of all exports of a server.
struct ExportProgress: Hashable, Sendable {
  /// The moment until which each export is closed, by file name root. Exports that are no longer configured
  /// stay in it.
  var closedUntil: [String: Date] = [:]

  /// The first moment that no export has closed. A new key is released at this moment or later, so that it is in
  /// the next file of every export and in no closed one.
  var openFrom: Date { closedUntil.values.max() ?? Date(unixSecond: 0) }

  /// Adds the new ones of `exports`. Each begins with the period that contains `now`, or with the current period of
  /// the other exports if they are behind, so that it does not close a period before they do.
  mutating func begin(_ exports: [ExportConfiguration], at now: Date) {
    let moment = closedUntil.isEmpty ? now : min(now, openFrom)
    for export in exports where closedUntil[export.filenameRoot] == nil {
      closedUntil[export.filenameRoot] = export.period.boundary(notAfter: moment)
    }
  }

  /// Returns the period of `export` that ends next.
  ///
  /// It ends after everything that any export has closed, because its padding must be added to all of them. If an
  /// export was removed from the configuration and is added again, the periods it missed are part of this period,
  /// as far back as keys are retained.
  func nextPeriod(of export: ExportConfiguration, at now: Date) -> (start: Date, end: Date) {
    let period = export.period
    let oldest = period.boundary(
      notAfter: now.addingTimeInterval(-KeyServerLimit.retentionSeconds))
    let start = max(closedUntil[export.filenameRoot] ?? oldest, oldest)
    return (start, period.boundary(after: max(start, openFrom)))
  }
}
