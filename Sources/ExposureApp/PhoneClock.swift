// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import World

/// Compares the phone's clock with the times that servers state, and tells the framework the result.
final class PhoneClock {
  private let context: AppContext
  private let trust: any KeyFileTrust
  /// The time and uptime of the last comparison that found the clock right, since the start.
  private var rightReading: ClockReading?

  init(_ context: AppContext, trust: any KeyFileTrust) {
    self.context = context
    self.trust = trust
    // Before the framework removes old data.
    tellSystem()
  }

  /// Compares the phone's clock with the accepted documents of the server, and asks a second source if it is wrong.
  ///
  /// The header `Date` of the key server is not signed: a cache or proxy with a wrong clock must not
  /// stop all uploads of a region. Without an answer of the second source the next comparison asks again.
  ///
  /// - Parameters:
  ///   - hasFutureFiles: True if the server lists files of the phone's future, which counts if its documents state no
  ///     time; `nil` if that is not known. An index without them, which may be empty, does not refute a stated time.
  ///   - asksAgain: True to ask the second source also if it has answered before.
  func compare(
    with server: RetryingNetwork, hasFutureFiles: Bool? = nil, asksAgain: Bool = false
  ) async {
    let ahead = await server.clockComparison.secondsAhead
    let isWrong = ahead.map { abs($0) > ClockRule.differenceSecondsMax } ?? hasFutureFiles
    let lastAhead = context.state.clockRecord?.lastWrong?.secondsAhead
    if let isWrong, isWrong || ahead != nil || lastAhead == nil {
      note(isWrong: isWrong, secondsAhead: ahead)
    }
    guard let record = context.state.clockRecord, record.isWrong,
      asksAgain || record.isConfirmed == nil, let isConfirmed = await isWrongBySecondSource()
    else { return }
    if isConfirmed || isWrong == true {
      update { $0.confirm(isConfirmed) }
    } else {
      // The verdict is that of an earlier comparison, and the clock was set since then.
      note(isWrong: false, secondsAhead: nil)
    }
  }

  private func note(isWrong: Bool, secondsAhead: TimeInterval?) {
    let reading = context.clock.reading
    if !isWrong { rightReading = reading }
    update { $0.note(isWrong: isWrong, secondsAhead: secondsAhead, at: reading.time) }
  }

  /// Changes the record of the clock. When the clock is right again, the files that were analysed
  /// meanwhile are wanted again, because encounters may not have been found in them, and version 2
  /// detects again, because no day was removed.
  private func update(_ change: (inout ClockRecord) -> Void) {
    var record = context.state.clockRecord ?? ClockRecord()
    change(&record)
    let files = record.takeFiles(at: context.now)
    guard record != context.state.clockRecord ?? ClockRecord() || !files.isEmpty else { return }
    let isRecovery = context.isClockWrong && !record.countsAsWrong
    let detectsAgain = isRecovery && context.configuration.windowRisk != nil
    context.store.updateIfPossible { state in
      state.clockRecord = record
      state.download.wantAgain(files)
      // The files of the current days may have been ignored meanwhile, although the index has not changed.
      if isRecovery { state.download.indexVersion = nil }
      if detectsAgain { state.mustDetectAgain = true }
    }
    tellSystem()
  }

  /// Returns `true` if a signed document was issued in the phone's future, if the clock was set since it was right, or
  /// if the verification server states another time; `nil` if that server states none.
  private func isWrongBySecondSource() async -> Bool? {
    let (limit, sent) = (ClockRule.differenceSecondsMax, context.clock.reading)
    let latest = sent.time.addingTimeInterval(limit).unixSecond
    if let document = context.deviceConfiguration, document.issued > latest { return true }
    if let right = rightReading {
      let step = sent.time.timeIntervalSince(right.time) - (sent.uptime - right.uptime)
      if abs(step) > limit { return true }
    }
    let requests = UploadRequests(
      configuration: context.configuration, randomness: context.randomness)
    // Without a response, or if a network answers in place of the server, nothing is known.
    guard let response = try? await context.network.send(requests.tokenDecoy()), !response.isPage,
      let ahead = response.secondsAhead(sent: sent.time, received: context.now)
    else { return nil }
    return abs(ahead) > limit
  }

  /// Tells the framework whether the phone's clock is wrong.
  func tellSystem() {
    let error = context.state.clockError
    trust.setClock(isWrong: error != nil, secondsAhead: error?.secondsAhead)
  }
}
