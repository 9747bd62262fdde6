import Dispatch
import ExposureNotification
import Foundation
import Secrets
import Synchronization
import World

/// The app's `ENManager` with async functions. It is not Sendable and stays on the app's actor.
///
/// Every call ends after a limited time, also if the framework never calls its handler.
struct Framework {
  let manager: ENManager
  private let clock: any WallClock

  /// Wraps `manager` and gives its handlers their own queue.
  init(_ manager: ENManager, clock: any WallClock) {
    self.manager = manager
    self.clock = clock
    manager.dispatchQueue = DispatchQueue(label: "ExposureApp.Framework")
  }

  var status: ENStatus { manager.exposureNotificationStatus }
  var isEnabled: Bool { manager.exposureNotificationEnabled }

  func activate() async throws {
    try await run { (call: FrameworkCall<Void>) in
      manager.activate { call.finish($0.map { .failure($0) } ?? .success(())) }
      return nil
    }
  }

  func setEnabled(_ isEnabled: Bool) async throws {
    try await run { (call: FrameworkCall<Void>) in
      manager.setExposureNotificationEnabled(isEnabled) {
        call.finish($0.map { .failure($0) } ?? .success(()))
      }
      return nil
    }
  }

  /// The phone's own keys; the system asks the user first.
  func diagnosisKeys() async throws -> [ReleasedKey] {
    try await run { call in
      manager.getDiagnosisKeys { call.finish(result($0.map { $0.map(ReleasedKey.init) }, $1)) }
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
    let (clock, end) = (clock, clock.now.addingTimeInterval(FrameworkLimit.callSeconds))
    let timer = Task {
      try await clock.sleep(until: end)
      call.stop(FrameworkTimeout())
    }
    defer { timer.cancel() }
    let value = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        call.begin(continuation)
        if let progress = start(call) { call.track(progress) }
      }
    } onCancel: {
      call.stop(CancellationError())
    }
    try Task.checkCancellation()
    return value
  }
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
    var continuation: CheckedContinuation<Value, any Error>?
    var progress: Progress?
    var result: Result<Value, any Error>?
  }

  private let state = Mutex(State())

  /// Resumes `continuation` with the result, at once if there is one already.
  func begin(_ continuation: CheckedContinuation<Value, any Error>) {
    let result = state.withLock {
      if $0.result == nil { $0.continuation = continuation }
      return $0.result
    }
    if let result { continuation.resume(with: result) }
  }

  /// Ends the call with its result.
  func finish(_ result: Result<Value, any Error>) {
    let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
      guard state.result == nil else { return nil }
      state.result = result
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(with: result)
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

/// One of the phone's own keys, released for an upload.
struct ReleasedKey: Sendable, Equatable {
  /// The key's bytes.
  let bytes: ZeroingBytes
  /// The first ten-minute interval of the key.
  let rollingStartNumber: UInt32
  /// The number of its intervals.
  let rollingPeriod: UInt32
  /// The transmission risk that an upload of the key states, 1...8.
  var transmissionRisk = Self.protegoRisk

  /// The transmission risk of all keys in the ProteGO Safe contract, without tables of the health authority.
  static let protegoRisk = 8
}

extension ReleasedKey {
  /// Copies a key of the framework.
  fileprivate init(_ key: ENTemporaryExposureKey) {
    self.init(
      bytes: ZeroingBytes(copying: key.keyData), rollingStartNumber: key.rollingStartNumber,
      rollingPeriod: key.rollingPeriod)
  }
}

extension ReleasedKey: Redacted {
  /// The start of the key; its bytes identify a user's beacons.
  var description: String { "ReleasedKey(from \(rollingStartNumber))" }
}
