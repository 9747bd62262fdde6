import Foundation

/// How far the exports of a server have been closed.
struct ExportProgress: Hashable, Sendable {
  /// Until when the periods of each export are closed, by file name root; of exports that are no longer
  /// set up too.
  var closedUntil: [String: Date] = [:]

  /// The first moment that no export has closed: a key that comes in now is released then at the
  /// earliest, so that it is in the next file of every export and in no file that is closed.
  var openFrom: Date { closedUntil.values.max() ?? Date(timeIntervalSince1970: 0) }

  /// Sets up those of `exports` that are new: each begins with the period that `now` is in, or, where the
  /// others are behind, with theirs, so that it does not close the time before they do.
  mutating func begin(_ exports: [ExportConfiguration], at now: Date) {
    let moment = closedUntil.isEmpty ? now : min(now, openFrom)
    for export in exports where closedUntil[export.filenameRoot] == nil {
      closedUntil[export.filenameRoot] = export.period.boundary(notAfter: moment)
    }
  }

  /// The period of `export` that ends next.
  ///
  /// It ends where no export has closed anything yet, since its padding has to go in. An export that was
  /// taken out while others went on has the time it missed in one file with the period it comes back
  /// in: Documentation/Exports.md 2. It does not reach further back than keys are kept.
  func nextPeriod(of export: ExportConfiguration, at now: Date) -> (start: Date, end: Date) {
    let period = export.period
    let oldest = period.boundary(
      notAfter: now.addingTimeInterval(-KeyServerLimit.retentionSeconds))
    let start = max(closedUntil[export.filenameRoot] ?? oldest, oldest)
    return (start, period.boundary(after: max(start, openFrom)))
  }
}
