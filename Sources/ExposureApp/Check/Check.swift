import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import World

extension ExposureApp {
  /// Runs one check: download, detection, risk assessment and notice.
  ///
  /// The exposures and the cursor are stored together after the detection. If the check fails earlier,
  /// the cursor and the downloaded files stay for the next check.
  public func check() async -> CheckOutcome {
    guard !isChecking else { return .alreadyRunning }
    isChecking = true
    defer { isChecking = false }
    do {
      try await checkOnce()
      try store.update { $0.history.lastFailure = nil }
      return .checked(riskLevel)
    } catch is CheckPause {
      return .paused
    } catch {
      let failure = CheckFailure(Task.isCancelled ? CancellationError() : error)
      logger.info("check failed", metadata: ["reason": "\(failure.rawValue)"])
      try? store.update { $0.history.lastFailure = failure }
      return .failed(failure)
    }
  }

  private func checkOnce() async throws {
    try removeOldData()
    guard authorizationStatus() == .authorized else { throw CheckFailure.notAuthorized }
    try await activate()
    await updateBluetoothNotice()
    await showDueRiskNotice()
    try await prepareCheck()
    await refreshConfiguration()
    let download = keyFileDownload
    let listed = try await download.index(at: clock.now)
    if store.state.download.end == nil {
      try store.update { $0.download.begin(with: listed) }
    }
    let pending = store.state.download.pending(in: listed).prefix(DownloadLimit.filesPerRun)
    download.removeAll(except: Array(pending))
    let obtained = try await download.obtain(withOneRefusedFile(Array(pending)))
    let withdrawn = obtained.filter { isWithdrawn(download.url(of: $0)) }
    var analysis = try await analyse(obtained.filter { !withdrawn.contains($0) })
    analysis.withdrawn = withdrawn
    try save(analysis, listed: listed)
    download.remove(analysis.done + analysis.refused)
    await showDueRiskNotice()
    await sendDecoyIfDue()
    guard analysis.done.count == pending.count else { throw CheckFailure.filesMissing }
  }

  /// Keeps one random file of those that were refused before, so that bad files do not use up the quota
  /// for good ones.
  private func withOneRefusedFile(_ names: [KeyFileName]) -> [KeyFileName] {
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

  /// Analyses new files together, and files that were refused before one by one. If new files are
  /// refused together, they are also analysed one by one, to find the bad one.
  private func analyse(_ names: [KeyFileName]) async throws -> Analysis {
    var analysis = Analysis()
    guard !names.isEmpty else {
      if store.state.mustDetectAgain { analysis.add(try await detect(in: []), in: []) }
      return analysis
    }
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

  /// Returns `false` if the framework refused the files as malformed.
  private func analyse(_ names: [KeyFileName], into analysis: inout Analysis) async throws -> Bool {
    do {
      let files = names.map(keyFileDownload.url)
      var found = try await detect(in: files)
      if !found.coversAllFiles, !found.exposures.isEmpty { found.mark(files) }
      analysis.add(found, in: names)
      return true
    } catch let error as ENError where error.code == .badFormat {
      return false
    } catch let error as ENError where error.code == .rateLimited && !analysis.analysed.isEmpty {
      // The quota is used up: keep the results so far; the other files wait until tomorrow.
      return true
    }
  }

  private func detect(in files: [URL]) async throws -> DetectedExposures {
    if let windowRisk {
      try await framework.detect(in: files, by: windowRisk)
    } else {
      try await framework.detect(in: files, scoring: remote.exposureConfiguration)
    }
  }

  /// Stores the results, the cursor and the history together.
  private func save(_ analysis: Analysis, listed: [KeyFileName]) throws {
    let now = clock.now
    let keysCount = analysis.analysed.reduce(0) { sum, name in
      sum + ((try? countKeys(keyFileDownload.url(of: name))) ?? 0)
    }
    let assessment = RiskAssessment(thresholds: remote.riskLevelConfiguration)
    let found = analysis.result
    try store.update { state in
      state.add(found)
      if found.coversAllFiles { state.mustDetectAgain = false }
      state.removeOld(at: now)
      state.download.finish(
        analysed: analysis.done, refused: analysis.refused, listed: listed)
      state.history.record(
        at: now, keysCount: keysCount, matchedKeyCount: found.matchedKeyCount,
        riskScore: found.exposures.map(\.riskScore).max() ?? 0,
        level: found.exposures.compactMap { $0.judgement?.level }.max(),
        analysedFiles: analysis.analysed.count)
      state.notices.setLevel(assessment.level(of: state.exposures, at: now))
    }
  }
}

/// The result of a check.
public enum CheckOutcome: Sendable, Hashable {
  /// The check is complete; the current risk level.
  case checked(RiskLevel)
  /// Another check is running.
  case alreadyRunning
  /// The health authority has paused checks; `ExposureApp.pause` gives the end. Nothing is lost.
  case paused
  /// The check was not complete.
  case failed(CheckFailure)

  /// True if everything that could be checked has been checked, or nothing shall be checked now.
  public var isSuccess: Bool {
    switch self {
    case .checked, .paused: true
    case .alreadyRunning, .failed: false
    }
  }
}

/// The progress of one check.
struct Analysis {
  var analysed: [KeyFileName] = []
  /// The files that the framework refused.
  var refused: [KeyFileName] = []
  /// The files that the health authority has withdrawn; they are not analysed.
  var withdrawn: [KeyFileName] = []
  /// The combined result of all detections.
  var result = DetectedExposures()

  /// The files that need no further check.
  var done: [KeyFileName] { analysed + withdrawn }

  mutating func add(_ found: DetectedExposures, in names: [KeyFileName]) {
    analysed += names
    guard !found.coversAllFiles else {
      result = found
      return
    }
    result.matchedKeyCount += found.matchedKeyCount
    result.exposures += found.exposures
  }
}

/// Limits of the framework calls of one check.
public enum DetectionLimit {
  /// The maximum number of calls for single files; the framework allows fifteen calls a day in total.
  public static let callsAloneMax = 8
}
