// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import World

extension ExposureApp {
  /// Runs one check: download, detection, risk assessment and notice.
  ///
  /// The exposures and the cursor are stored together after the detection. If the check fails earlier,
  /// the cursor and the downloaded files stay for the next check. During a check, another call awaits its
  /// result.
  public func check() async -> CheckOutcome {
    guard runningCheck == nil else { return await resultOfRunningCheck() }
    guard !isRemovingEverything else { return .failed(.dataRemoved) }
    let work = Task { await checkAndRecord() }
    runningCheck = work
    announce(.checkStarted)
    let outcome = await work.valueOrCancelled
    runningCheck = nil
    for waiter in checkWaiters.values { waiter.resume(returning: outcome) }
    checkWaiters = [:]
    announce(.checkFinished(outcome))
    return outcome
  }

  private func checkAndRecord() async -> CheckOutcome {
    await finishUploadIfDue()
    let removalsBefore = removals
    var outcome: CheckOutcome
    do {
      try await checkOnce()
      outcome = .checked(riskLevel)
    } catch is CheckPause {
      outcome = isPauseOfWrongClock ? .failed(.clockWrong) : .paused
    } catch {
      // The removal took the files that the check was using, whatever error that caused.
      let failure =
        removals == removalsBefore
        ? CheckFailure(Task.isCancelled ? CancellationError() : error) : .dataRemoved
      // A wrong clock makes valid documents seem expired.
      outcome = .failed(failure.hidesEncounters && isClockWrong ? .clockWrong : failure)
    }
    outcome = record(outcome)
    // The failure of an earlier check does not count any more.
    if case .checked = outcome { outcome = .checked(riskLevel) }
    await updateStandingNotices()
    return outcome
  }

  /// The result of the running check, or a failure if the caller is cancelled.
  private func resultOfRunningCheck() async -> CheckOutcome {
    let id = UUID()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        if Task.isCancelled {
          waiter.resume(returning: .failed(.timeIsUp))
        } else {
          checkWaiters[id] = waiter
        }
      }
    } onCancel: {
      Task { await self.leaveCheck(id) }
    }
  }

  private func leaveCheck(_ id: UUID) {
    checkWaiters.removeValue(forKey: id)?.resume(returning: .failed(.timeIsUp))
  }

  private func checkOnce() async throws {
    noteOwnDamage()
    noteUnrecordedSharing()
    try removeOldData()
    guard authorizationStatus() == .authorized else { throw CheckFailure.notAuthorized }
    guard !store.state.isTurnedOff else { throw CheckFailure.notEnabled }
    try await activate()
    noteAuthorization()
    await updateBluetoothNotice()
    await showDueRiskNotice()
    let server = makeKeyServer()
    checkServer = server
    defer { checkServer = nil }
    await noteSystemDamage()
    do {
      try await prepareCheck()
      await refreshConfiguration()
      await server.setRetries(remote.diagnosisKeyDownloadConfiguration.retryCount)
      try await checkFilesOfLastDays(of: server)
    } catch {
      await keep(server)
      throw error
    }
    await keep(server)
    await showDueRiskNotice()
    await sendDecoyIfDue()
    guard store.state.download.isComplete else { throw await server.failure ?? .filesMissing }
    if let reason = reasonOfNoEncounters { throw reason }
  }

  /// The reason why nothing is known of encounters although all listed files are analysed.
  private var reasonOfNoEncounters: CheckFailure? {
    let now = clock.now
    if isClockWrong { return .clockWrong }
    if let since = store.state.configurationFailingSince,
      now.timeIntervalSince(since) >= NoticeRule.failingSeconds
    {
      return .notConfigured
    }
    let oldest = RemovalRule.oldestExposure(at: now)
    return store.state.download.hasNoFile(since: oldest) ? .noKeyFiles : nil
  }

  /// Checks the wanted files, or those of the last fourteen days if results turn out to be lost.
  private func checkFilesOfLastDays(of server: RetryingNetwork) async throws {
    do {
      try await checkFiles(of: server)
    } catch is LostResults {
      try await checkFiles(of: server)
    }
  }

  /// Downloads and analyses the wanted files, and stores the results.
  private func checkFiles(of server: RetryingNetwork) async throws {
    let download = keyFileDownload(from: server)
    let version = store.state.download.indexVersion
    let listed = try await download.index(since: version, at: clock.now) {
      await server.accept($0)
    }
    // Before the results are stored, which may have to be found again when the clock is right.
    await noteClock(of: server, hasFutureFiles: listed?.hasFutureNames)
    if let listed {
      let now = clock.now
      try store.update {
        $0.download.note(listed.names, at: now, after: $0.oldestExposure(at: now))
        $0.download.indexVersion = listed.version
      }
    }
    download.removeAll(except: store.state.download.pending)
    let pending = store.state.download.pending(at: clock.now)
    let obtained = try await download.obtain(pending)
    let withdrawn = obtained.compactMap { name in
      withdrawnHash(of: download.url(of: name)).map { AnalysedFile(name: name.text, hash: $0) }
    }
    let skipped = obtained.filter { name in withdrawn.contains { $0.name == name.text } }
    var analysis = try await analyse(
      obtained.filter { !skipped.contains($0) }, withdrawn: skipped)
    if !withdrawn.isEmpty { try store.update { $0.skip(withdrawn) } }
    guard await !noteSystemDamage() else { throw LostResults() }
    analysis.missing += pending.filter { !obtained.contains($0) }
    try save(analysis)
    download.remove(analysis.done + analysis.refused + analysis.missing)
  }

  /// Stores the pause that the server has asked for, and whether the phone's clock is right.
  private func keep(_ server: RetryingNetwork) async {
    await noteClock(of: server)
    let pause = await server.pause
    guard pause != store.state.serverPause else { return }
    store.updateIfPossible { $0.serverPause = pause }
  }

  /// Analyses new files together, and suspicious ones by the rules of `FileSearch`. The search is stored even
  /// if the check fails, because every call counts.
  private func analyse(
    _ names: [KeyFileName], withdrawn: [KeyFileName]
  ) async throws -> Analysis {
    var analysis = Analysis(search: store.state.download.search)
    analysis.withdrawn = withdrawn
    do {
      try await analyse(names, into: &analysis)
    } catch {
      store.updateIfPossible { $0.download.search = analysis.search }
      throw error
    }
    return analysis
  }

  private func analyse(_ names: [KeyFileName], into analysis: inout Analysis) async throws {
    let suspects = analysis.search.suspects
    let download = keyFileDownload(from: network)
    var new: [KeyFileName] = []
    for name in names {
      // An unreadable file, or another one than that of the name, is a failed transfer, which the next check repeats.
      guard let facts = try? inspect(download.url(of: name)),
        facts.match(name, regions: configuration.uploadRegions)
      else {
        logger.info("a downloaded file is not the key file of its name")
        analysis.missing.append(name)
        continue
      }
      analysis.keyCounts[name.text] = facts.keyCount
      if !suspects.contains(name.text) { new.append(name) }
    }
    if !new.isEmpty { try await detect(in: new, into: &analysis) }
    let byText = Dictionary(uniqueKeysWithValues: names.map { ($0.text, $0) })
    let available = Set(analysis.keyCounts.keys)
    var isFree = new.isEmpty
    while !analysis.isOutOfQuota,
      let next = analysis.search.next(
        available: available, limit: searchCallsPerDay, isFree: isFree, at: clock.now)
    {
      isFree = false
      try await detect(in: next.compactMap { byText[$0] }, into: &analysis)
    }
    if analysis.analysed.isEmpty, store.state.mustDetectAgain {
      try await detect(in: [], into: &analysis)
    }
  }

  /// Passes files to the framework and records its verdict.
  private func detect(in names: [KeyFileName], into analysis: inout Analysis) async throws {
    do {
      let files = names.map(keyFileDownload(from: network).url)
      var found = try await detect(in: files)
      if !found.coversAllFiles, !found.exposures.isEmpty { found.mark(files) }
      analysis.add(found, in: names, at: clock.now)
    } catch let error as ENError where error.code == .badFormat {
      analysis.refuse(names, at: clock.now)
    } catch let error as ENError where error.code == .rateLimited && !analysis.analysed.isEmpty {
      // The quota is used up: keep the results so far; the other files wait until tomorrow.
      analysis.isOutOfQuota = true
    } catch let error as ENError where error.code == .dataInaccessible {
      try await passAgain(names, into: &analysis, after: error)
    }
  }

  /// Restores results that the framework has lost. The files of the last fourteen days are passed again, in
  /// several calls if necessary; until the last one, every call fails. If the framework still waits then, the
  /// server has removed some of the files, and the app ends the wait.
  ///
  /// - Throws: `LostResults` if all files must be passed first, or `error` if the framework's data cannot be
  ///   read for another reason.
  private func passAgain(
    _ names: [KeyFileName], into analysis: inout Analysis, after error: ENError
  ) async throws {
    guard await !noteSystemDamage() else { throw LostResults() }
    guard store.state.download.isRestarted else {
      guard store.state.mustDetectAgain, windowRisk != nil else { throw error }
      try store.update { $0.download.restart() }
      throw LostResults()
    }
    let passed = Set(names + analysis.done)
    let isLast = store.state.download.pending.allSatisfy {
      passed.contains($0) || analysis.search.refused[$0.text] != nil
    }
    guard isLast else { return analysis.pass(names, at: clock.now) }
    try await trust.confirmKeyFilesPassed()
    do {
      let found = try await detect(in: names.map(keyFileDownload(from: network).url))
      analysis.add(found, in: names, at: clock.now)
    } catch let error as ENError where error.code == .rateLimited && !analysis.analysed.isEmpty {
      analysis.isOutOfQuota = true
    }
  }

  private func detect(in files: [URL]) async throws -> DetectedExposures {
    guard let windowRisk else {
      return try await framework.detect(in: files, scoring: remote.exposureConfiguration)
    }
    let found = try await framework.detect(in: files, by: windowRisk)
    try noteInfectiousness(of: windowRisk)
    return found
  }

  private var searchCallsPerDay: Int {
    configuration.windowRisk == nil
      ? DetectionLimit.searchCallsPerDayVersion1 : DetectionLimit.searchCallsPerDayVersion2
  }

  /// Stores the results, the cursor and the history together.
  private func save(_ analysis: Analysis) throws {
    let (now, version) = (clock.now, remote.version)
    let before = riskLevel
    let wasRecovering = store.state.damage.recoveringSince != nil
    let keysCount = analysis.analysed.reduce(0) { $0 + (analysis.keyCounts[$1.text] ?? 0) }
    let found = analysis.result
    try store.update { state in
      state.download.search = analysis.search
      state.download.finish(
        analysed: analysis.done, missing: analysis.missing, after: state.oldestExposure(at: now))
      state.add(found)
      state.clockRecord?.note(analysed: analysis.done.map(\.text))
      if analysis.hasDetected {
        state.mustDetectAgain = false
        state.detectionRulesVersion = version
      }
      if analysis.isPartial { state.mustDetectAgain = true }
      if state.download.isRestored, !state.mustDetectAgain { state.damage.finishRecovery() }
      state.history.record(
        at: now, keysCount: keysCount, matchedKeyCount: found.matchedKeyCount,
        riskScore: found.exposures.map(\.riskScore).max() ?? 0,
        level: found.exposures.compactMap { $0.judgement?.level }.max(),
        analysedFiles: analysis.analysed.count)
      state.removeOld(at: now)
    }
    if riskLevel > max(before, .none) { announce(.exposureFound(riskLevel)) }
    if wasRecovering, store.state.damage.recoveringSince == nil { announce(.storageRestored) }
  }
}

/// Thrown during a check if the framework has lost results that a detection needs.
private struct LostResults: Error {}

/// The result of a check.
public enum CheckOutcome: Sendable, Hashable {
  /// The check is complete; the current risk level.
  case checked(RiskLevel)
  /// The health authority has paused checks; `ExposureApp.pause` gives the end. Nothing is lost.
  case paused
  /// The check was not complete.
  case failed(CheckFailure)

  /// True if everything that could be checked has been checked, or nothing shall be checked now.
  public var isSuccess: Bool {
    switch self {
    case .checked, .paused: true
    case .failed: false
    }
  }
}

/// The progress of one check.
struct Analysis {
  /// The search for bad files.
  var search: FileSearch
  var analysed: [KeyFileName] = []
  /// The files that the framework refused alone.
  var refused: [KeyFileName] = []
  /// The files that the health authority has withdrawn; they are not analysed.
  var withdrawn: [KeyFileName] = []
  /// The files that could not be downloaded, or arrived damaged.
  var missing: [KeyFileName] = []
  /// The number of keys in each readable file.
  var keyCounts: [String: Int] = [:]
  /// True if the framework accepts no more calls today.
  var isOutOfQuota = false
  /// True if files were passed again, and no detection has succeeded since.
  private(set) var isPartial = false
  /// True if a detection has succeeded.
  private(set) var hasDetected = false
  /// The combined result of all detections.
  var result = DetectedExposures()

  init(search: FileSearch) { self.search = search }

  /// The files that need no further check.
  var done: [KeyFileName] { analysed + withdrawn }

  mutating func refuse(_ names: [KeyFileName], at now: Date) {
    search.refuse(names.map(\.text), at: now)
    if names.count == 1 { refused += names }
  }

  /// Records files that the framework has taken although the call failed, because it waits for others.
  mutating func pass(_ names: [KeyFileName], at now: Date) {
    search.accept(names.map(\.text), at: now)
    analysed += names
    isPartial = true
  }

  mutating func add(_ found: DetectedExposures, in names: [KeyFileName], at now: Date) {
    search.accept(names.map(\.text), at: now)
    analysed += names
    isPartial = false
    hasDetected = true
    guard !found.coversAllFiles else {
      result = found
      return
    }
    result.matchedKeyCount += found.matchedKeyCount
    result.exposures += found.exposures
  }
}

/// Limits of the framework calls for the search for bad files, beside one call for new files in each check.
/// The framework allows fifteen calls a day in API version 1 and six in version 2.
public enum DetectionLimit {
  /// Calls a day in API version 1.
  public static let searchCallsPerDayVersion1 = 8
  /// Calls a day in API version 2.
  public static let searchCallsPerDayVersion2 = 2
}
