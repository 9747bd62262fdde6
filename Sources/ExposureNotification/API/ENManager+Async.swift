import Foundation

// Apple's importer gives each call that returns nothing an async form. Each goes through the one
// with a handler, so that an override of that one holds for both.
extension ENManager {
  func awaited(_ call: (@escaping ENErrorHandler) -> Void) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      call { error in done.resume(with: error.map(Result.failure) ?? .success(())) }
    }
  }

  func awaitedKeys(
    _ call: (@escaping ENGetDiagnosisKeysHandler) -> Void
  ) async throws -> [ENTemporaryExposureKey] {
    try await withCheckedThrowingContinuation { (done: Waiting<[ENTemporaryExposureKey]>) in
      call { keys, error in
        done.resume(with: Result(catching: { try keys.orThrow(error) }).map(Handoff.init))
      }
    }.value
  }

  func awaitedTravel(_ call: (@escaping ENGetUserTraveledHandler) -> Void) async throws -> Bool {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Bool, any Error>) in
      call { hasTraveled, error in
        done.resume(with: error.map(Result.failure) ?? .success(hasTraveled))
      }
    }
  }

  private typealias Waiting<Value> = CheckedContinuation<Handoff<Value>, any Error>
}

extension Optional {
  /// The value, or the error that came in its place.
  fileprivate func orThrow(_ error: (any Error)?) throws -> Wrapped {
    guard let self else { throw error ?? ENError(.internal) }
    return self
  }
}
