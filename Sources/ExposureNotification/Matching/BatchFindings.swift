import ExposureKeys

/// What the search for one batch of keys found.
package struct BatchFindings: Sendable {
  /// The keys that were heard, in the batch's order.
  package var matches: [UnopenedMatch] = []
  /// The keys whose time is not over, in the batch's order; none unless the search asked for them.
  package var openKeys: [DiagnosisKey] = []
  /// Whether the keys replace what was published of them before.
  package var areRevised = false
  /// How much work it was.
  package var counters = MatchCounters()
}

extension BatchFindings: CustomStringConvertible, CustomReflectable {
  /// The kind only: it holds keys and meetings.
  package var description: String { "BatchFindings" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
