// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ExposureNotification
import Foundation
import RiskRules
import Secrets
import Synchronization
import World

/// The app's `ENManager` with async functions. It is not Sendable and stays on the app's actor.
///
/// Every call ends after a limited time, also if the framework never calls its handler.
final class Framework {
  let manager: ENManager
  private let clock: any WallClock
  /// The activation that is running or has succeeded.
  private var activation: FrameworkCall<Void>?

  /// Wraps `manager` and gives its handlers their own queue.
  init(_ manager: ENManager, clock: any WallClock) {
    self.manager = manager
    self.clock = clock
    manager.dispatchQueue = DispatchQueue(label: "ExposureApp.Framework")
  }

  var status: ENStatus { manager.exposureNotificationStatus }
  var isEnabled: Bool { manager.exposureNotificationEnabled }

  /// Activates the framework once; concurrent callers wait for the same activation.
  func activate() async throws {
    if let activation { return try await activation.value }
    let call = FrameworkCall<Void>()
    activation = call
    let timer = stop(call)
    defer { timer.cancel() }
    manager.activate { call.finish($0.map { .failure($0) } ?? .success(())) }
    do { try await call.value } catch {
      activation = nil
      throw error
    }
  }

  /// Stops `call` at the deadline.
  private func stop<Value>(_ call: FrameworkCall<Value>) -> Task<Void, any Error> {
    let (clock, end) = (clock, clock.now.addingTimeInterval(FrameworkLimit.callSeconds))
    return Task {
      try await clock.sleep(until: end)
      call.stop(FrameworkTimeout())
    }
  }

  func setEnabled(_ isEnabled: Bool) async throws {
    try await complete { manager.setExposureNotificationEnabled(isEnabled, completionHandler: $0) }
  }

  /// The phone's own keys; the system asks the user first.
  func diagnosisKeys() async throws -> [ReleasedKey] {
    try await run { call in
      manager.getDiagnosisKeys { call.finish(result($0.map { $0.map(ReleasedKey.init) }, $1)) }
      return nil
    }
  }

  /// Asks the user to release the phone's own keys in advance.
  func preAuthorizeKeys() async throws {
    try await complete { manager.preAuthorizeDiagnosisKeys(completionHandler: $0) }
  }

  /// The keys that the user has released in advance. The system accepts one request for each consent, within five days:
  /// otherwise the user is asked again.
  func preAuthorizedKeys() async throws -> [ReleasedKey] {
    do {
      let keys = try await requestPreAuthorizedKeys()
      if !keys.isEmpty { return keys }
    } catch ENError.notAuthorized {
      // The consent has expired.
    }
    try await preAuthorizeKeys()
    return try await requestPreAuthorizedKeys()
  }

  private func requestPreAuthorizedKeys() async throws -> [ReleasedKey] {
    let received = FrameworkCall<[ReleasedKey]>()
    manager.diagnosisKeysAvailableHandler = {
      received.finish(.success($0.map(ReleasedKey.init)))
    }
    defer { manager.diagnosisKeysAvailableHandler = nil }
    try await complete { manager.requestPreAuthorizedDiagnosisKeys(completionHandler: $0) }
    // Without keys, the handler may not have been called.
    received.finish(.success([]))
    return try await received.value
  }

  /// Runs one call whose handler gets only an error. It ends like that of `run(_:)`.
  private func complete(_ start: (@escaping ENErrorHandler) -> Void) async throws {
    try await run { (call: FrameworkCall<Void>) in
      start { call.finish($0.map { .failure($0) } ?? .success(())) }
      return nil
    }
  }

  /// Runs one call, which ends with its result, with the cancellation of the task, or at the deadline.
  ///
  /// - Parameter start: Starts the call and returns its progress, if any; the call reports to its argument.
  /// - Throws: The error of the call, `FrameworkTimeout`, or `CancellationError` if the task was cancelled,
  ///   even if the call succeeded.
  func run<Value: Sendable>(_ start: (FrameworkCall<Value>) -> Progress?) async throws -> Value {
    try Task.checkCancellation()
    let call = FrameworkCall<Value>()
    let timer = stop(call)
    defer { timer.cancel() }
    if let progress = start(call) { call.track(progress) }
    let value = try await withTaskCancellationHandler {
      try await call.value
    } onCancel: {
      call.stop(CancellationError())
    }
    try Task.checkCancellation()
    return value
  }
}

extension Framework {
  /// Analyses files with API version 1; cancelling the task cancels the framework's operation.
  ///
  /// The exposures are requested only if there is a match: the system shows the user the explanation.
  ///
  /// - Throws: `ENError`, or `CancellationError` after a cancellation even if there are results.
  func detect(in files: [URL], scoring: RiskScoringParameters) async throws
    -> DetectedExposures
  {
    let summary = try await detect(in: files, with: scoring.frameworkConfiguration)
    let count = Int(clamping: summary.value.matchedKeyCount)
    guard count > 0 else { return DetectedExposures() }
    return DetectedExposures(
      matchedKeyCount: count, exposures: try await exposures(in: summary.value, scoring: scoring))
  }

  /// The explanation that the system shows the user with the exposures.
  static let explanation =
    "The app is checking whether you were near someone who has since tested positive."

  private func detect(in files: [URL], with configuration: ENExposureConfiguration) async throws
    -> Summary
  {
    try await run { call in
      manager.detectExposures(configuration: configuration, diagnosisKeyURLs: files) {
        call.finish(result($0.map(Summary.init), $1))
      }
    }
  }

  private func exposures(
    in summary: ENExposureDetectionSummary, scoring: RiskScoringParameters
  ) async throws -> [Exposure] {
    try await run { call in
      manager.getExposureInfo(summary: summary, userExplanation: Self.explanation) {
        call.finish(result($0.map { $0.compactMap { Exposure($0, scoring: scoring) } }, $1))
      }
    }
  }
}

extension Framework {
  /// Carries a summary from the framework's queue to the actor; there is no other reference to it.
  struct Summary: @unchecked Sendable { let value: ENExposureDetectionSummary }
}

extension Exposure {
  /// Copies an encounter of the framework; `nil` without a full-range score.
  fileprivate init?(_ info: ENExposureInfo, scoring: RiskScoringParameters) {
    guard let score = info.metadata?["totalRiskScoreFullRange"] as? NSNumber else { return nil }
    self.init(
      id: UUID(), day: UTCDay(of: info.date), durationSeconds: info.duration,
      riskScore: score.intValue,
      bands: DistanceBand.bands(
        seconds: info.attenuationDurations.map(\.intValue), total: Int(info.duration),
        scoring: scoring))
  }
}

extension Framework {
  /// Analyses files with API version 2 and evaluates the windows of each day with the policy.
  ///
  /// - Throws: `ENError` if the detection failed, `CheckFailure` if reading the windows failed, or
  ///   `CancellationError` after a cancellation.
  func detect(in files: [URL], by assessment: WindowRiskAssessment) async throws
    -> DetectedExposures
  {
    let summary = try await detect(in: files, with: assessment.configuration())
    let found = try await windows(in: summary.value)
    return DetectedExposures(
      matchedKeyCount: Int(clamping: summary.value.matchedKeyCount),
      exposures: assessment.policy.risk(of: found).days.map(Exposure.init), coversAllFiles: true)
  }

  private func windows(in summary: ENExposureDetectionSummary) async throws -> [RiskWindow] {
    do {
      return try await run { call in
        manager.getExposureWindows(summary: summary) {
          call.finish(result($0.map { $0.map { RiskWindow($0) } }, $1))
        }
      }
    } catch { throw CheckFailure(ofWindows: error) }
  }
}

extension Exposure {
  /// Creates the exposure of one day.
  fileprivate init(_ day: WindowRisk.Day) {
    self.init(
      id: UUID(), day: UTCDay(of: day.date), durationSeconds: Double(day.seconds), riskScore: 0,
      judgement: DayRisk(level: day.level, normalizedMinutes: day.normalizedTime), bands: day.bands)
  }
}

extension RiskScoringParameters {
  /// The framework's configuration with the same values. The thresholds are in `metadata`, as apps for
  /// iOS 13.5 set them.
  package var frameworkConfiguration: ENExposureConfiguration {
    let configuration = ENExposureConfiguration()
    configuration.minimumRiskScore = ENRiskScore(clamping: minimumRiskScore)
    configuration.attenuationWeight = Double(attenuationWeight)
    configuration.daysSinceLastExposureWeight = Double(daysSinceLastExposureWeight)
    configuration.durationWeight = Double(durationWeight)
    configuration.transmissionRiskWeight = Double(transmissionRiskWeight)
    configuration.attenuationLevelValues = numbers(attenuationScores)
    configuration.daysSinceLastExposureLevelValues = numbers(daysSinceLastExposureScores)
    configuration.durationLevelValues = numbers(durationScores)
    configuration.transmissionRiskLevelValues = numbers(transmissionRiskScores)
    configuration.metadata = [
      "attenuationDurationThresholds": numbers(durationAtAttenuationThresholds)
    ]
    return configuration
  }

  private func numbers(_ values: [Int]) -> [NSNumber] { values.map { NSNumber(value: $0) } }
}

/// The framework did not respond in time.
struct FrameworkTimeout: Error {}

/// Limits of the framework's calls.
public enum FrameworkLimit {
  /// The longest time of one call, including the user's answer to the system's question, in seconds.
  public static let callSeconds: TimeInterval = 15 * 60
}

/// One call of the framework. The first of its result and a stop counts; later ones are ignored.
final class FrameworkCall<Value: Sendable>: Sendable {
  private struct State {
    var waiters: [CheckedContinuation<Value, any Error>] = []
    var progress: Progress?
    var result: Result<Value, any Error>?
  }

  private let state = Mutex(State())

  /// The result, as soon as there is one.
  var value: Value {
    get async throws {
      try await withCheckedThrowingContinuation { waiter in
        let result = state.withLock {
          if $0.result == nil { $0.waiters.append(waiter) }
          return $0.result
        }
        if let result { waiter.resume(with: result) }
      }
    }
  }

  /// Ends the call with its result.
  func finish(_ result: Result<Value, any Error>) {
    let waiters = state.withLock { state -> [CheckedContinuation<Value, any Error>] in
      guard state.result == nil else { return [] }
      state.result = result
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(with: result) }
  }

  /// Ends the call without waiting for the framework, and cancels its operation.
  func stop(_ reason: any Error) {
    finish(.failure(reason))
    state.withLock { $0.progress }?.cancel()
  }

  /// Stores the progress of the operation that has just started. It is cancelled if the call was stopped.
  func track(_ progress: Progress) {
    let isStopped = state.withLock { state in
      state.progress = progress
      if case .failure = state.result { return true }
      return false
    }
    if isStopped { progress.cancel() }
  }
}

/// The result of a completion handler's two optional arguments.
func result<Value>(_ value: Value?, _ error: (any Error)?) -> Result<Value, any Error> {
  if let value { .success(value) } else { .failure(error ?? ENError(.internal)) }
}

extension ReleasedKey {
  /// Copies a key of the framework.
  fileprivate init(_ key: ENTemporaryExposureKey) {
    self.init(
      bytes: ZeroingBytes(copying: key.keyData), rollingStartNumber: key.rollingStartNumber,
      rollingPeriod: key.rollingPeriod)
  }
}
