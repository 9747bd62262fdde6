/// How a suite went.
struct ConformanceReport: Encodable {
  let suite: String
  let passed: Int
  let failed: Int
  /// The cases that failed, in the file's order.
  let failures: [CaseOutcome]

  init(suite: ConformanceSuite, outcomes: [CaseOutcome]) {
    self.suite = suite.rawValue
    failures = outcomes.filter { !$0.isPassed }
    failed = failures.count
    passed = outcomes.count - failures.count
  }

  /// Each failed case, then the count.
  var text: String {
    (failures.map(\.text) + ["\(passed) passed, \(failed) failed"]).joined(separator: "\n")
  }
}
