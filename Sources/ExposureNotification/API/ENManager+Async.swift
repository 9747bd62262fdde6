import Foundation

// Apple's importer gives each call that returns nothing an async form. Each goes through the one
// with a handler, so that an override of that one holds for both.
extension ENManager {
  /// `activate(completionHandler:)`, awaited.
  public func activate() async throws {
    try await awaited { activate(completionHandler: $0) }
  }

  /// `setExposureNotificationEnabled(_:completionHandler:)`, awaited.
  public func setExposureNotificationEnabled(_ enabled: Bool) async throws {
    try await awaited { setExposureNotificationEnabled(enabled, completionHandler: $0) }
  }

  /// `getDiagnosisKeys(completionHandler:)`, awaited.
  public func diagnosisKeys() async throws -> [ENTemporaryExposureKey] {
    try await withCheckedThrowingContinuation { (done: Waiting<[ENTemporaryExposureKey]>) in
      getDiagnosisKeys { keys, error in
        done.resume(with: Result(catching: { try keys.orThrow(error) }).map(Handoff.init))
      }
    }.value
  }

  private typealias Waiting<Value> = CheckedContinuation<Handoff<Value>, any Error>

  private func awaited(_ call: (@escaping ENErrorHandler) -> Void) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      call { error in done.resume(with: error.map(Result.failure) ?? .success(())) }
    }
  }
}

extension Optional {
  /// The value, or the error that came in its place.
  fileprivate func orThrow(_ error: (any Error)?) throws -> Wrapped {
    guard let self else { throw error ?? ENError(.internal) }
    return self
  }
}
