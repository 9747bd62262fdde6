// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ExposureKeys
import Foundation
import Logging
import Synchronization

// The implementation of Apple's calls.
extension ENManager {
  func beginActivation(_ completionHandler: @escaping ENErrorHandler) {
    let (lifecycle, queue) = (lifecycle, dispatchQueue)
    nonisolated(unsafe) let activityHandler = activityHandler
    let begun = Result { () throws(ENError) in try lifecycle.beginActivation() }
    complete({ completionHandler($0.failure) }) { [device] in
      try begun.get()
      guard let device else {
        try lifecycle.endActivation(succeeded: false)
        throw ENError(.unsupported)
      }
      do {
        try await device.admitManager()
      } catch {
        try lifecycle.endActivation(succeeded: false)
        throw error
      }
      try lifecycle.endActivation(succeeded: true)
      if let activityHandler {
        lifecycle.observe(device.activities, on: queue, activityHandler)
      }
    }
  }

  func endLifecycle() {
    guard lifecycle.invalidate() else { return }
    runningDetections.forEach { $0.cancel() }
    runningDetections = []
    nonisolated(unsafe) let handler = invalidationHandler
    invalidationHandler = nil
    activityHandler = nil
    diagnosisKeysAvailableHandler = nil
    lifecycle.pendingHandlers.notify(queue: dispatchQueue) { handler?() }
  }

  /// Starts a detection over `keyFiles`; without them, over the keys kept from earlier detections.
  ///
  /// - Returns: `progress`.
  func detect(
    _ configuration: ENExposureConfiguration, keyFiles: [URL]?, progress: Progress = Progress(),
    _ completionHandler: @escaping ENDetectExposuresHandler
  ) -> Progress {
    // Documented for the app: the configuration must not change until the handler is called.
    nonisolated(unsafe) let configuration = configuration
    runningDetections.removeAll { $0.isFinished || $0.isCancelled }
    runningDetections.append(progress)
    perform({
      completionHandler($0.value.map(ENExposureDetectionSummary.init), $0.failure)
    }) { device in
      try await device.detect(configuration, keyFiles: keyFiles, progress: progress)
    }
    return progress
  }

  func requestKeys(
    _ completionHandler: @escaping ENGetDiagnosisKeysHandler,
    _ release: @escaping @Sendable (Device) async throws -> [TemporaryExposureKey]
  ) {
    perform(
      { completionHandler($0.value?.map(ENTemporaryExposureKey.init), $0.failure) }, release)
  }

  func requestPreAuthorizedKeys(_ completionHandler: @escaping ENErrorHandler) {
    let receiver = diagnosisKeysAvailableHandler
    let hasReceiver = receiver != nil
    perform({ (result: Result<[TemporaryExposureKey], any Error>) in
      if let keys = result.value { receiver?(keys.map(ENTemporaryExposureKey.init)) }
      completionHandler(result.failure)
    }) { device in
      guard hasReceiver else { throw ENError(.apiMisuse, explanation: Self.noReceiver) }
      return try await device.releasePreAuthorizedKeys()
    }
  }

  private static let noReceiver =
    "There is no handler for the keys; set diagnosisKeysAvailableHandler before this call."
}

// Running work on the device and calling handlers.
extension ENManager {
  /// Runs `work` on the device of an active manager and calls `handler` on `dispatchQueue`.
  func perform<Value: Sendable>(
    _ handler: @escaping (Result<Value, any Error>) -> Void,
    _ work: @escaping @Sendable (Device) async throws -> Value
  ) {
    let ready = Result { () throws(ENError) in try lifecycle.requireActive() }
    complete(handler) { [device] in
      try ready.get()
      guard let device else { throw ENError(.unsupported) }
      return try await work(device)
    }
  }

  /// Runs `work` in a task of its own and calls `handler` on `dispatchQueue`.
  private func complete<Value: Sendable>(
    _ handler: @escaping (Result<Value, any Error>) -> Void,
    _ work: @escaping @Sendable () async throws -> Value
  ) {
    // Apple's handlers are not `Sendable`; only `dispatchQueue` calls this one.
    nonisolated(unsafe) let handler = handler
    let (queue, pendingHandlers) = (dispatchQueue, lifecycle.pendingHandlers)
    let logger = device?.logger
    pendingHandlers.enter()
    Task {
      let result: Result<Value, any Error>
      do {
        result = .success(try await work())
      } catch {
        let reason = ENError.reason(for: error)
        // Only the type is logged: the text of an unknown error may contain a secret.
        if ENError.Code.unknown ~= reason {
          logger?.error("ENManager call failed: \(type(of: error))")
        }
        result = .failure(reason)
      }
      queue.async {
        handler(result)
        pendingHandlers.leave()
      }
    }
  }
}

// Apple's importer gives each call that returns nothing an async form. Each calls the form with a
// handler, so that an override of that form applies to both.
extension ENManager {
  func awaited(_ call: (@escaping ENErrorHandler) -> Void) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      call { error in done.resume(with: error.map(Result.failure) ?? .success(())) }
    }
  }

  func awaitedKeys(
    _ call: (@escaping ENGetDiagnosisKeysHandler) -> Void
  ) async throws -> [ENTemporaryExposureKey] {
    try await withCheckedThrowingContinuation { done in
      call { keys, error in
        guard let keys else { return done.resume(throwing: error ?? ENError(.internal)) }
        nonisolated(unsafe) let released = keys
        done.resume(returning: released)
      }
    }
  }

  func awaitedTravel(_ call: (@escaping ENGetUserTraveledHandler) -> Void) async throws -> Bool {
    try await withCheckedThrowingContinuation { done in
      call { hasTraveled, error in
        done.resume(with: error.map(Result.failure) ?? .success(hasTraveled))
      }
    }
  }
}

extension Result {
  /// The value of a success, or nil.
  var value: Success? { if case .success(let value) = self { value } else { nil } }

  /// The error of a failure, or nil.
  var failure: Failure? {
    guard case .failure(let error) = self else { return nil }
    return error
  }
}

/// The life cycle of one `ENManager`: new, activating, active, invalidated. An invalidated manager cannot be
/// activated again.
final class ManagerLifecycle: Sendable {
  private enum Phase { case new, activating, active, invalidated }

  private let phase = Mutex(Phase.new)
  private let stopObserving = Mutex<(@Sendable () -> Void)?>(nil)
  /// Handlers that are not called yet; the invalidation handler waits for them.
  let pendingHandlers = DispatchGroup()

  /// Notified when the manager's properties may have changed.
  let changes = ChangeObservers()

  var isActive: Bool { phase.withLock { $0 == .active } }

  func beginActivation() throws(ENError) {
    try phase.withLock { phase throws(ENError) in
      if phase == .invalidated { throw ENError(.invalidated) }
      guard phase == .new else { throw ENError(.apiMisuse) }
      phase = .activating
    }
  }

  func endActivation(succeeded: Bool) throws(ENError) {
    try phase.withLock { phase throws(ENError) in
      guard phase == .activating else { throw ENError(.invalidated) }
      phase = succeeded ? .active : .new
    }
    changes.notify()
  }

  func requireActive() throws(ENError) {
    try phase.withLock { phase throws(ENError) in
      if phase == .invalidated { throw ENError(.invalidated) }
      guard phase == .active else { throw ENError(.apiMisuse) }
    }
  }

  /// Calls `handler` on `queue` with each activity until invalidation.
  func observe(
    _ activities: ActivityListeners, on queue: DispatchQueue, _ handler: @escaping ENActivityHandler
  ) {
    nonisolated(unsafe) let handler = handler
    let id = activities.add { [weak self] flags in
      guard let self else { return }
      queue.async {
        if self.isActive { handler(flags) }
      }
    }
    stopObserving.withLock { $0 = { activities.remove(id) } }
  }

  /// Returns `true` for the call that ended the life cycle, `false` for later ones.
  @discardableResult
  func invalidate() -> Bool {
    let stop = stopObserving.withLock { stop in
      defer { stop = nil }
      return stop
    }
    stop?()
    return phase.withLock { phase in
      defer { phase = .invalidated }
      return phase != .invalidated
    }
  }
}
