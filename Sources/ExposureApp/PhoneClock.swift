// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import World

/// Compares the phone's clock with the times that servers state, and tells the framework the result.
final class PhoneClock {
  private let context: AppContext
  private let trust: any KeyFileTrust
  /// The time and uptime of the last comparison with a stated time that found the clock right, since the start.
  private var rightReading: ClockReading?
  /// The connection whose comparison sent the last decoy: a check sends at most one.
  private weak var lastWithDecoy: RetryingNetwork?

  init(_ context: AppContext, trust: any KeyFileTrust) {
    self.context = context
    self.trust = trust
    // Before the framework removes old data.
    tellSystem()
  }

  /// Compares the phone's clock with the accepted documents of the server, and asks a second source if it is wrong.
  ///
  /// The header `Date` of the key server is not signed: a cache or proxy with a wrong clock must not stop all uploads
  /// of a region. The verdict and the answer are stored together, so that one that is refuted changes nothing else.
  ///
  /// - Parameters:
  ///   - hasFutureFiles: True if the server lists files of the phone's future, which counts if its documents state no
  ///     time; `nil` if that is not known. An index without them, which may be empty, does not refute a stated time.
  ///   - decoy: When a decoy may ask the verification server for the time.
  func compare(
    with server: RetryingNetwork, hasFutureFiles: Bool? = nil, decoy: ClockDecoy = .ifUnknown
  ) async {
    let ahead = await server.clockComparison.secondsAhead
    let isWrong = ahead.map { abs($0) > ClockRule.differenceSecondsMax } ?? hasFutureFiles
    let reading = context.clock.reading
    func note(in record: inout ClockRecord) {
      guard let isWrong, isWrong || ahead != nil || record.lastWrong?.secondsAhead == nil else {
        return
      }
      record.note(isWrong: isWrong, secondsAhead: ahead, at: reading.time)
    }
    if isWrong == false, ahead != nil { rightReading = reading }
    let stored = context.state.clockRecord
    var expected = stored ?? ClockRecord()
    note(in: &expected)
    var answer: Bool?
    if expected.isWrong {
      answer = isStepOrFuture(at: reading) ? true : nil
      if answer == nil, decoy == .always || decoy == .ifUnknown && expected.isConfirmed == nil {
        answer = await isWrongByVerificationServer(for: server, decoy)
        // Another comparison was recorded while the server was asked, and is newer.
        guard context.state.clockRecord == stored else { return }
      }
    }
    update { record in
      if answer == false, isWrong != true || record.isConfirmed == true {
        // The verdict is that of an earlier comparison, and the clock was set since then.
        record.note(isWrong: false, secondsAhead: nil, at: reading.time)
      }
      note(in: &record)
      if isWrong == true || answer == true, let answer { record.confirm(answer) }
    }
  }

  /// Changes the record of the clock. When the clock is right again, the files that were analysed meanwhile are wanted
  /// again, because encounters may not have been found in them. Version 2 detects again, because no day was removed.
  private func update(_ change: (inout ClockRecord) -> Void) {
    let previous = context.state.clockRecord ?? ClockRecord()
    var record = previous
    change(&record)
    let now = context.now
    let files = record.takeFiles(at: now)
    guard record != previous || !files.isEmpty else { return }
    guard record.isWrong || previous.isWrong || !files.isEmpty else {
      // That a right clock is still right is stored with the next change; until then the earlier time is as good.
      try? context.store.keep { $0.clockRecord = record }
      return tellSystem()
    }
    let isRecovery = context.isClockWrong && !record.countsAsWrong
    let detectsAgain = isRecovery && context.configuration.windowRisk != nil
    context.store.updateIfPossible { state in
      state.clockRecord = record
      state.download.wantAgain(files)
      // The files of the current days may have been ignored meanwhile, although the index has not changed.
      if isRecovery { state.download.indexVersion = nil }
      // The phone may have been turned on while its clock was ahead.
      if isRecovery, state.download.receiving != nil { state.download.beginReceiving(at: now) }
      if detectsAgain { state.mustDetectAgain = true }
    }
    tellSystem()
  }

  /// Returns `true` if a signed document was issued in the phone's future, or if the clock was set since it was right.
  private func isStepOrFuture(at reading: ClockReading) -> Bool {
    let limit = ClockRule.differenceSecondsMax
    let latest = reading.time.addingTimeInterval(limit).unixSecond
    if let document = context.deviceConfiguration, document.issued > latest { return true }
    guard let right = rightReading else { return false }
    let passed = reading.uptime - right.uptime
    return abs(reading.time.timeIntervalSince(right.time) - passed) > limit
  }

  /// Returns `true` if the verification server states another time in the response to a decoy; `nil` if it states none,
  /// during a pause, or if a decoy was sent for `server` before and `decoy` allows only one.
  private func isWrongByVerificationServer(
    for server: RetryingNetwork, _ decoy: ClockDecoy
  ) async -> Bool? {
    guard context.pause == nil, decoy == .always || lastWithDecoy !== server else { return nil }
    lastWithDecoy = server
    let sent = context.now
    let request = context.uploadRequests.tokenDecoy()
    // Without a response, or if a network answers in place of the server, nothing is known.
    guard let response = try? await context.network.send(request), !response.isPage,
      let ahead = response.secondsAhead(sent: sent, received: context.now)
    else { return nil }
    return abs(ahead) > ClockRule.differenceSecondsMax
  }

  /// Tells the framework whether the phone's clock is wrong.
  func tellSystem() {
    let error = context.state.clockError(at: context.now)
    trust.setClock(isWrong: error != nil, secondsAhead: error?.secondsAhead)
  }
}

/// When a decoy asks the verification server for the time if the clock is wrong by the key server.
enum ClockDecoy {
  /// Never; the last answer counts.
  case never
  /// If no second source has answered for the current verdict.
  case ifUnknown
  /// Also if a second source has answered before.
  case always
}
