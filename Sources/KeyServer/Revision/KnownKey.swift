import ExposureKeys
import Foundation

/// A key that is in already, as far as a revision needs to know.
struct KnownKey: Hashable, Sendable {
  let bytes: Data
  let reportType: ReportType?
  /// What it has become; nil where it was never revised.
  let revisedReportType: ReportType?
}

extension KnownKey: CustomStringConvertible, CustomReflectable {
  var description: String { "KnownKey" }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
