import DiagnosisKeyFile
import ExposureKeys

@testable import ExposureNotification

/// A ledger with the matcher that fills it.
struct FilledLedger {
  private let matcher: Matcher
  private(set) var ledger = MatchLedger()

  init(_ matcher: Matcher) {
    self.matcher = matcher
  }

  mutating func search(_ keys: [DiagnosisKey], areRevised: Bool = false) {
    var findings = matcher.findings(in: KeyBatch(keys))
    findings.areRevised = areRevised
    ledger.add(findings)
  }

  var matches: [KeyMatch] { ledger.matches }
}
