import ExposureKeys
import Foundation

// What stands behind Apple's calls that take more than a line.
extension ENManager {
  func begin(_ completionHandler: @escaping ENErrorHandler) {
    let (life, queue) = (life, dispatchQueue)
    let activity = Handoff(activityHandler)
    let begun = Result { () throws(ENError) in try life.beginActivation() }
    answer({ completionHandler($0.failure) }) { [device] in
      try begun.get()
      guard let device else {
        try life.endActivation(succeeded: false)
        throw ENError(.unsupported)
      }
      do {
        try await device.admitManager()
      } catch {
        try life.endActivation(succeeded: false)
        throw error
      }
      try life.endActivation(succeeded: true)
      if let handler = activity.value {
        life.hear(device.activities, on: queue, Handoff(handler))
      }
      return Handoff(())
    }
  }

  func end() {
    guard life.invalidate() else { return }
    running.forEach { $0.cancel() }
    running = []
    let handler = Handoff(invalidationHandler)
    invalidationHandler = nil
    activityHandler = nil
    diagnosisKeysAvailableHandler = nil
    life.handlers.notify(queue: dispatchQueue) { handler.value?() }
  }

  /// A detection over `keyFiles`, or over what is kept of earlier ones where there are none.
  func detect(
    _ configuration: ENExposureConfiguration, keyFiles: [URL]?,
    _ completionHandler: @escaping ENDetectExposuresHandler
  ) -> Progress {
    let (configuration, progress) = (Handoff(configuration), Progress())
    running.removeAll { $0.isFinished || $0.isCancelled }
    running.append(progress)
    ask({ completionHandler($0.value, $0.failure) }) { device in
      try await device.detect(configuration, keyFiles: keyFiles, progress: progress)
    }
    return progress
  }

  func askForKeys(
    _ completionHandler: @escaping ENGetDiagnosisKeysHandler,
    _ release: @escaping @Sendable (Device) async throws -> [TemporaryExposureKey]
  ) {
    ask({ completionHandler($0.value, $0.failure) }) { device in
      Handoff(try await release(device).map(ENTemporaryExposureKey.init))
    }
  }

  func askForPreAuthorizedKeys(_ completionHandler: @escaping ENErrorHandler) {
    let receiver = diagnosisKeysAvailableHandler
    let hasReceiver = receiver != nil
    ask({ (result: Result<[ENTemporaryExposureKey], any Error>) in
      if let keys = result.value { receiver?(keys) }
      completionHandler(result.failure)
    }) { device in
      guard hasReceiver else { throw ENError(.apiMisuse, explanation: Self.noReceiver) }
      return Handoff(try await device.releasePreAuthorizedKeys().map(ENTemporaryExposureKey.init))
    }
  }

  private static let noReceiver =
    "Nobody takes the keys; set diagnosisKeysAvailableHandler before asking for them."
}
