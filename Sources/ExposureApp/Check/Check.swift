// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import World

/// The check: download, detection, risk assessment and notice.
final class Check {
  private let context: AppContext
  private let configuration: ConfigurationRefresh
  private let notices: NoticeBoard
  private let housekeeping: Housekeeping
  private let trust: any KeyFileTrust
  private let inspect: @Sendable (URL) throws -> KeyFileFacts
  /// Sends the decoys of uploads.
  private let upload: Upload

  init(
    _ context: AppContext, configuration: ConfigurationRefresh, notices: NoticeBoard,
    housekeeping: Housekeeping, upload: Upload, trust: any KeyFileTrust,
    inspect: @escaping @Sendable (URL) throws -> KeyFileFacts
  ) {
    self.context = context
    self.configuration = configuration
    self.notices = notices
    self.housekeeping = housekeeping
    self.upload = upload
    self.trust = trust
    self.inspect = inspect
  }

  /// Runs the check and records its result.
  func run() async -> CheckOutcome {
    let removalsBefore = context.removals
    var outcome: CheckOutcome
    do {
      try await checkOnce()
      outcome = .checked(context.riskLevel)
    } catch is CheckPause {
      outcome = configuration.isPauseOfWrongClock ? .failed(.clockWrong) : .paused
    } catch {
      // The removal took the files that the check was using, whatever error that caused.
      let failure =
        context.removals == removalsBefore
        ? CheckFailure(Task.isCancelled ? CancellationError() : error) : .dataRemoved
      // A wrong clock makes valid documents seem expired.
      outcome = .failed(failure.hidesEncounters && context.isClockWrong ? .clockWrong : failure)
    }
    outcome = record(outcome)
    // The failure of an earlier check does not count any more.
    if case .checked = outcome { outcome = .checked(context.riskLevel) }
    await notices.updateStanding()
    return outcome
  }

  private func checkOnce() async throws {
    housekeeping.noteOwn()
    housekeeping.noteUnrecordedSharing()
    // The clock may have been set since the last check, also without a network.
    configuration.clock.tellSystem()
    try housekeeping.removeOldData(isStoredLater: true)
    guard context.authorizationStatus() == .authorized else { throw CheckFailure.notAuthorized }
    guard !context.state.isTurnedOff else { throw CheckFailure.notEnabled }
    try await context.framework.activate()
    context.noteAuthorization()
    await notices.updateBluetooth()
    await notices.showDueRisk()
    let server = configuration.makeKeyServer()
    configuration.checkServer = server
    defer { configuration.checkServer = nil }
    await housekeeping.noteSystem()
    do {
      try await configuration.prepareCheck()
      await configuration.refreshConfiguration()
      await server.setRetries(context.remote.diagnosisKeyDownloadConfiguration.retryCount)
      try await checkFilesOfLastDays(of: server)
    } catch {
      await keep(server)
      throw error
    }
    await keep(server)
    await notices.showDueRisk()
    await upload.sendDecoyIfDue()
    guard context.state.download.isComplete else { throw await server.failure ?? .filesMissing }
    if let reason = reasonOfNoEncounters { throw reason }
  }

  /// The reason why nothing is known of encounters although all listed files are analysed.
  private var reasonOfNoEncounters: CheckFailure? {
    let now = context.now
    if context.isClockWrong { return .clockWrong }
    if let since = context.state.configurationFailingSince,
      now.timeIntervalSince(since) >= NoticeRule.failingSeconds
    {
      return .notConfigured
    }
    let oldest = RemovalRule.oldestExposure(at: now)
    return context.state.download.hasNoFile(since: oldest) ? .noKeyFiles : nil
  }

  /// Checks the wanted files, or those of the last fourteen days if results turn out to be lost.
  private func checkFilesOfLastDays(of server: RetryingNetwork) async throws {
    do { try await checkFiles(of: server) } catch is LostResults {
      try await checkFiles(of: server)
    }
  }

  /// Downloads and analyses the wanted files, and stores the results.
  private func checkFiles(of server: RetryingNetwork) async throws {
    let download = keyFileDownload(from: server)
    let version = context.state.download.indexVersion
    let listed = try await download.index(since: version, at: context.now) {
      await server.accept($0)
    }
    // Before the results are stored, which may have to be found again when the clock is right.
    await configuration.clock.compare(with: server, hasFutureFiles: listed?.hasFutureNames)
    if let listed {
      let now = context.now
      try context.store.update {
        $0.download.note(listed.names, at: now, after: $0.oldestExposure(at: now))
        $0.download.indexVersion = listed.version
      }
    }
    let plan = try await plan(for: download)
    // Roll-ups of an earlier check that did not get as far as this are not downloaded again.
    download.removeAll(except: context.state.download.pending + plan.roots.keys)
    let obtained = try await download.obtain(plan.names, roots: plan.roots)
    let withdrawn = obtained.compactMap { name in
      configuration.withdrawnHash(of: download.url(of: name)).map {
        AnalysedFile(name: name.text, hash: $0)
      }
    }
    let skipped = obtained.filter { name in withdrawn.contains { $0.name == name.text } }
    var analysis = try await analyse(obtained.filter { !skipped.contains($0) }, withdrawn: skipped)
    // The files that a withdrawn roll-up covers stay wanted.
    let known = withdrawn.filter { file in !plan.roots.keys.contains { $0.text == file.name } }
    if !known.isEmpty { try context.store.update { $0.skip(known) } }
    guard await !housekeeping.noteSystem() else { throw LostResults() }
    analysis.missing += plan.names.filter { !obtained.contains($0) }
    try save(analysis, of: plan, from: download)
    download.remove(analysis.done + analysis.refused + analysis.missing)
  }

  /// The files to download: roll-ups instead of many files.
  private func plan(for download: KeyFileDownload) async throws -> DownloadPlan {
    let cursor = context.state.download
    let wanted = cursor.pending(at: context.now)
    // Files that are analysed again, and those that the framework has refused, are passed one by one.
    guard wanted.count >= DownloadLimit.rollUpsFrom, !cursor.isRestarted, !cursor.isUndoing else {
      return DownloadPlan(wanted, insteadBy: [], cursor)
    }
    let suspects = cursor.search.suspects
    let rollUps = RollUp.choices(
      insteadOf: wanted.filter { !suspects.contains($0.text) },
      among: try await download.rollUps(), cursor)
    return DownloadPlan(wanted, insteadBy: rollUps, cursor)
  }

  /// Stores the pause that the server has asked for, and whether the phone's clock is right.
  private func keep(_ server: RetryingNetwork) async {
    await configuration.clock.compare(with: server)
    let pause = await server.pause
    guard pause != context.state.serverPause else { return }
    context.store.updateIfPossible { $0.serverPause = pause }
  }

  /// Analyses new files together, and suspicious ones by the rules of `FileSearch`. The search is stored even
  /// if the check fails, because every call counts.
  private func analyse(_ names: [KeyFileName], withdrawn: [KeyFileName]) async throws -> Analysis {
    var analysis = Analysis(search: context.state.download.search)
    analysis.withdrawn = withdrawn
    do { try await analyse(names, into: &analysis) } catch {
      context.store.updateIfPossible { $0.download.search = analysis.search }
      throw error
    }
    return analysis
  }

  private func analyse(_ names: [KeyFileName], into analysis: inout Analysis) async throws {
    let suspects = analysis.search.suspects
    let download = keyFileDownload(from: context.network)
    var new: [KeyFileName] = []
    for name in names {
      // An unreadable file, or another one than that of the name, is a failed transfer, which the next check repeats.
      guard let facts = try? inspect(download.url(of: name)),
        facts.match(name), trust.isOwnRegion(facts.region)
      else {
        context.logger.info("a downloaded file is not the key file of its name")
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
        available: available, limit: searchCallsPerDay, isFree: isFree, at: context.now)
    {
      isFree = false
      try await detect(in: next.compactMap { byText[$0] }, into: &analysis)
    }
    if analysis.analysed.isEmpty, context.state.mustDetectAgain {
      try await detect(in: [], into: &analysis)
    }
  }

  /// Passes files to the framework and records its verdict.
  private func detect(in names: [KeyFileName], into analysis: inout Analysis) async throws {
    do {
      let files = names.map(keyFileDownload(from: context.network).url)
      var found = try await detect(in: files)
      if !found.coversAllFiles, !found.exposures.isEmpty { found.mark(files) }
      analysis.add(found, in: names, at: context.now)
    } catch let error as ENError where error.code == .badFormat {
      analysis.refuse(names, at: context.now)
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
    guard await !housekeeping.noteSystem() else { throw LostResults() }
    guard context.state.download.isRestarted else {
      guard context.state.mustDetectAgain, context.windowRisk != nil else { throw error }
      try context.store.update { $0.download.restart() }
      throw LostResults()
    }
    let passed = Set(names + analysis.done)
    let isLast = context.state.download.pending.allSatisfy {
      passed.contains($0) || analysis.search.refused[$0.text] != nil
    }
    guard isLast else { return analysis.pass(names, at: context.now) }
    try await trust.confirmKeyFilesPassed()
    do {
      let found = try await detect(in: names.map(keyFileDownload(from: context.network).url))
      analysis.add(found, in: names, at: context.now)
    } catch let error as ENError where error.code == .rateLimited && !analysis.analysed.isEmpty {
      analysis.isOutOfQuota = true
    }
  }

  private func detect(in files: [URL]) async throws -> DetectedExposures {
    guard let windowRisk = context.windowRisk else {
      return try await context.framework.detect(
        in: files, scoring: context.remote.exposureConfiguration)
    }
    let found = try await context.framework.detect(in: files, by: windowRisk)
    try noteInfectiousness(of: windowRisk)
    return found
  }

  private var searchCallsPerDay: Int {
    context.configuration.windowRisk == nil
      ? DetectionLimit.searchCallsPerDayVersion1 : DetectionLimit.searchCallsPerDayVersion2
  }

  /// Stores the results, the cursor and the history together.
  private func save(
    _ analysis: Analysis, of plan: DownloadPlan, from download: KeyFileDownload
  ) throws {
    let (now, version) = (context.now, context.remote.version)
    let before = context.riskLevel
    let wasRecovering = context.state.damage.recoveringSince != nil
    let keysCount = analysis.analysed.reduce(0) { $0 + (analysis.keyCounts[$1.text] ?? 0) }
    let found = analysis.result
    var hashes: [KeyFileName: KeyFileHash] = [:]
    for name in analysis.analysed where plan.roots[name] != nil {
      hashes[name] = KeyFileHash(ofFile: download.url(of: name))
    }
    let change = { (state: inout StoredState) in
      state.download.search = analysis.search
      state.download.finish(
        analysed: analysis.done, missing: analysis.missing, after: state.oldestExposure(at: now))
      state.finish(
        plan, missing: analysis.missing, withdrawn: analysis.withdrawn, hashes: hashes, at: now)
      state.add(found)
      state.clockRecord?.note(analysed: plan.covered(by: analysis.done))
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
    // The end of the check stores a check without news. The end of a recovery is announced, so it is stored before.
    if wasRecovering || analysis.hasNews(since: context.state.download.search) {
      try context.store.update(change)
    } else {
      try context.store.keep(change)
    }
    if context.riskLevel > max(before, .none) {
      context.announce(.exposureFound(context.riskLevel))
    }
    if wasRecovering, context.state.damage.recoveringSince == nil {
      context.announce(.storageRestored)
    }
  }

  /// Stores the end of a check: the reason of a failure, and the time of the next check.
  ///
  /// - Returns: The outcome, which is a failure if a complete check could not be stored.
  private func record(_ outcome: CheckOutcome) -> CheckOutcome {
    let now = context.now
    let pause = context.state.serverPause.lasting(at: now)
    let failure = outcome.failure
    if let failure {
      context.logger.info("check failed", metadata: ["reason": "\(failure.rawValue)"])
    }
    do {
      try context.store.update { state in
        if outcome != .paused { state.history.finish(failure, at: now) }
        state.schedule.finish(outcome, at: now, pause: pause, randomness: context.randomness)
      }
      context.unstoredFailure = nil
      return outcome
    } catch {
      context.unstoredFailure = failure ?? CheckFailure(error)
      return .failed(context.unstoredFailure ?? .storageUnavailable)
    }
  }

  /// Records the map of a detection that has succeeded.
  private func noteInfectiousness(of rules: WindowRiskAssessment) throws {
    var record = context.state.infectiousness
    record.note(rules.infectiousness, at: context.now)
    guard record != context.state.infectiousness else { return }
    try context.store.update { $0.infectiousness = record }
  }

  func keyFileDownload(from network: any Network) -> KeyFileDownload {
    KeyFileDownload(
      network: network, keyServer: context.configuration.keyServer, folder: context.keyFileFolder,
      settings: context.remote.diagnosisKeyDownloadConfiguration, logger: context.logger)
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

extension CheckOutcome {
  /// The reason why the check was not complete.
  fileprivate var failure: CheckFailure? {
    if case .failed(let failure) = self { failure } else { nil }
  }
}
