import ExposureNotification
import Foundation

// Apple's calls that return a progress have no async form; tests wait for them with these.
extension ENManager {
  typealias Answer<Value> = CheckedContinuation<Value, any Error>

  func detect(
    _ files: [URL], _ configuration: ENExposureConfiguration = ENExposureConfiguration()
  ) async throws -> ENExposureDetectionSummary {
    try await withCheckedThrowingContinuation { answer in
      detectExposures(configuration: configuration, diagnosisKeyURLs: files) { summary, error in
        answer.resume(with: Answered(summary, error).result)
      }
    }.value
  }

  /// The detection without files.
  func detectAgain(
    _ configuration: ENExposureConfiguration = ENExposureConfiguration()
  ) async throws -> ENExposureDetectionSummary {
    try await withCheckedThrowingContinuation { answer in
      detectExposures(configuration: configuration) { summary, error in
        answer.resume(with: Answered(summary, error).result)
      }
    }.value
  }

  /// Begins a detection; the first part of the answer waits for its end.
  func beginDetection(
    _ files: [URL]
  ) -> (end: () async throws -> ENExposureDetectionSummary, progress: Progress) {
    let (stream, continuation) = AsyncThrowingStream<
      Answered<ENExposureDetectionSummary>, any Error
    >.makeStream()
    let progress = detectExposures(
      configuration: ENExposureConfiguration(), diagnosisKeyURLs: files
    ) { summary, error in
      continuation.yield(Answered(summary, error))
      continuation.finish()
    }
    let end = {
      for try await answer in stream { return try answer.result.get().value }
      throw ENError(.internal)
    }
    return (end, progress)
  }

  func info(
    of summary: ENExposureDetectionSummary, explanation: String
  ) async throws -> [ENExposureInfo] {
    try await withCheckedThrowingContinuation { answer in
      getExposureInfo(summary: summary, userExplanation: explanation) { infos, error in
        answer.resume(with: Answered(infos, error).result)
      }
    }.value
  }

  func windows(of summary: ENExposureDetectionSummary) async throws -> [ENExposureWindow] {
    try await withCheckedThrowingContinuation { answer in
      getExposureWindows(summary: summary) { windows, error in
        answer.resume(with: Answered(windows, error).result)
      }
    }.value
  }
}

/// What a handler was called with, carried to the test that waits.
private struct Answered<Value>: @unchecked Sendable {
  struct Carried: @unchecked Sendable { let value: Value }

  let result: Result<Carried, any Error>

  init(_ value: Value?, _ error: (any Error)?) {
    result = value.map { .success(Carried(value: $0)) } ?? .failure(error ?? ENError(.internal))
  }
}
