import KeyServerAPI

/// What one check has made of the files.
struct Analysis {
  /// The files that were analysed.
  var analysed: [KeyFileName] = []
  /// The files that the framework refused.
  var refused: [KeyFileName] = []
  /// What was found in all of them.
  var findings = Findings()

  mutating func add(_ found: Findings, in names: [KeyFileName]) {
    analysed += names
    guard !found.coversAllFiles else {
      findings = found
      return
    }
    findings.matchedKeyCount += found.matchedKeyCount
    findings.exposures += found.exposures
  }
}
