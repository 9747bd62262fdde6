// SPDX-License-Identifier: Apache-2.0
import Foundation

@testable import ExposureNotification

// Async forms of the calls that return a progress, which Apple does not provide.
extension ENManager {
  func detect(
    _ files: [URL], _ configuration: ENExposureConfiguration = ENExposureConfiguration()
  ) async throws -> ENExposureDetectionSummary {
    try await withCheckedThrowingContinuation { done in
      detectExposures(configuration: configuration, diagnosisKeyURLs: files) { summary, error in
        done.resume(with: Outcome(summary, error).result)
      }
    }.value
  }

  /// The detection without files.
  func detectAgain(
    _ configuration: ENExposureConfiguration = ENExposureConfiguration()
  ) async throws -> ENExposureDetectionSummary {
    try await withCheckedThrowingContinuation { done in
      detectExposures(configuration: configuration) { summary, error in
        done.resume(with: Outcome(summary, error).result)
      }
    }.value
  }

  /// Begins a detection. The closure in the result waits for its end.
  func beginDetection(
    _ files: [URL], progress: Progress = Progress()
  ) -> (end: () async throws -> ENExposureDetectionSummary, progress: Progress) {
    let (stream, continuation) = AsyncThrowingStream<
      Outcome<ENExposureDetectionSummary>, any Error
    >.makeStream()
    let progress = detect(ENExposureConfiguration(), keyFiles: files, progress: progress) {
      summary, error in
      continuation.yield(Outcome(summary, error))
      continuation.finish()
    }
    let end = {
      for try await done in stream { return try done.result.get().value }
      throw ENError(.internal)
    }
    return (end, progress)
  }

  func info(
    of summary: ENExposureDetectionSummary, explanation: String
  ) async throws -> [ENExposureInfo] {
    try await withCheckedThrowingContinuation { done in
      getExposureInfo(summary: summary, userExplanation: explanation) { infos, error in
        done.resume(with: Outcome(infos, error).result)
      }
    }.value
  }

  func windows(of summary: ENExposureDetectionSummary) async throws -> [ENExposureWindow] {
    try await withCheckedThrowingContinuation { done in
      getExposureWindows(summary: summary) { windows, error in
        done.resume(with: Outcome(windows, error).result)
      }
    }.value
  }
}

/// The arguments of a handler's call, passed to the waiting test.
private struct Outcome<Value>: @unchecked Sendable {
  struct Carried: @unchecked Sendable { let value: Value }

  let result: Result<Carried, any Error>

  init(_ value: Value?, _ error: (any Error)?) {
    result = value.map { .success(Carried(value: $0)) } ?? .failure(error ?? ENError(.internal))
  }
}
