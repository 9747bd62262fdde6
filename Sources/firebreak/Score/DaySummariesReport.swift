import ExposureNotification

/// Day summaries as `--json` prints them. Documentation/CommandLine.md 4.4.
struct DaySummariesReport: Encodable {
  /// Ascending.
  let daySummaries: [DaySummaryReport]

  init(_ days: [DaySummary], isRounded: Bool) {
    daySummaries = days.map { DaySummaryReport($0, isRounded: isRounded) }
  }

  /// The same for people to read.
  var text: String {
    guard !daySummaries.isEmpty else { return "No day with an exposure that counts." }
    return daySummaries.map(\.text).joined(separator: "\n")
  }
}
