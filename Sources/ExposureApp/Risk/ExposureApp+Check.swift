import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import World

extension ExposureApp {
  /// One check: download, detection, risk, notice. Documentation/App.md 3 to 5.
  ///
  /// Everything found and the cursor are stored in one step after the detection; whatever ends a
  /// check before that leaves cursor and files for the next one.
  public func check() async -> CheckOutcome {
    guard !isChecking else { return .alreadyRunning }
    isChecking = true
    defer { isChecking = false }
    do {
      try await checkOnce()
      try store.update { $0.history.lastFailure = nil }
      return .checked(riskLevel)
    } catch {
      let failure = CheckFailure(Task.isCancelled ? CancellationError() : error)
      logger.info("a check did not end well", metadata: ["why": "\(failure.rawValue)"])
      try? store.update { $0.history.lastFailure = failure }
      return .failed(failure)
    }
  }

  private func checkOnce() async throws {
    try removeOldData()
    guard authorizationStatus() == .authorized else { throw CheckFailure.notAuthorized }
    try await activate()
    await tellBluetoothOff()
    await tellDueRisk()
    await refreshConfiguration()
    let download = keyFileDownload
    let listed = try await download.index(at: clock.now)
    if store.state.download.end == nil {
      try store.update { $0.download.begin(with: listed) }
    }
    let wanted = store.state.download.wanted(of: listed).prefix(DownloadLimit.filesPerRun)
    download.removeAll(except: Array(wanted))
    let analysis = try await analyse(try await download.obtain(due(Array(wanted))))
    try keep(analysis, listed: listed)
    download.remove(analysis.analysed + analysis.refused)
    await tellDueRisk()
    await sendDecoyIfDue()
    guard analysis.analysed.count == wanted.count else { throw CheckFailure.filesMissing }
  }

  /// Of the files that were refused before only one a run, drawn anew each time: bad files must not use
  /// up the calls that good ones need.
  private func due(_ names: [KeyFileName]) -> [KeyFileName] {
    let refused = names.filter { store.state.download.refused.contains($0.text) }
    guard refused.count > 1 else { return names }
    let drawn = refused[randomness.number(in: 0...refused.count - 1)]
    return names.filter { $0 == drawn || !refused.contains($0) }
  }

  var keyFileDownload: KeyFileDownload {
    KeyFileDownload(
      network: network, keyServer: configuration.keyServer, folder: keyFileFolder,
      settings: remote.diagnosisKeyDownloadConfiguration, logger: logger)
  }

  /// Has the files analysed: together those that were never refused, alone those that were, and all
  /// of them alone where together they are refused, so that one bad file hides no good one.
  private func analyse(_ names: [KeyFileName]) async throws -> Analysis {
    var analysis = Analysis()
    guard !names.isEmpty else { return analysis }
    let refusedBefore = store.state.download.refused
    let together = names.filter { !refusedBefore.contains($0.text) }
    var alone = names.filter { refusedBefore.contains($0.text) }
    if !together.isEmpty, try await !analyse(together, into: &analysis) {
      if together.count == 1 { analysis.refused += together } else { alone = together + alone }
    }
    for name in alone.prefix(DetectionLimit.callsAloneMax) {
      if try await !analyse([name], into: &analysis) { analysis.refused.append(name) }
    }
    return analysis
  }

  /// Whether the framework took the files.
  private func analyse(_ names: [KeyFileName], into analysis: inout Analysis) async throws -> Bool {
    do {
      let files = names.map(keyFileDownload.url)
      analysis.add(try await detect(in: files), in: names)
      return true
    } catch let error as ENError where error.code == .badFormat {
      return false
    } catch let error as ENError where error.code == .rateLimited && !analysis.analysed.isEmpty {
      // What has been found so far is worth more than a clean end; the others wait for tomorrow.
      return true
    }
  }

  /// By windows and a policy where the app has one, else by the scores of the remote configuration.
  private func detect(in files: [URL]) async throws -> Findings {
    if let windowRisk = configuration.windowRisk {
      try await framework.detect(in: files, by: windowRisk)
    } else {
      try await framework.detect(in: files, scoring: remote.exposureConfiguration)
    }
  }

  /// Stores what was found, the cursor and the history in one step.
  private func keep(_ analysis: Analysis, listed: [KeyFileName]) throws {
    let now = clock.now
    let keysCount = analysis.analysed.reduce(0) { sum, name in
      sum + ((try? countKeys(keyFileDownload.url(of: name))) ?? 0)
    }
    let assessment = RiskAssessment(thresholds: remote.riskLevelConfiguration)
    let found = analysis.findings
    try store.update { state in
      state.add(found)
      state.removeOld(at: now)
      state.download.finish(
        analysed: analysis.analysed, refused: analysis.refused, listed: listed)
      state.history.record(
        at: now, keysCount: keysCount, matchedKeyCount: found.matchedKeyCount,
        riskScore: found.exposures.map(\.riskScore).max() ?? 0,
        level: found.exposures.compactMap { $0.judgement?.level }.max(),
        analysedFiles: analysis.analysed.count)
      state.notices.levelIs(assessment.level(of: state.exposures, at: now))
    }
  }
}
