import Dispatch
import Foundation
import World

// Looking for exposures: key files against contacts, on this phone only.
extension Device {
  /// One detection over `keyFiles`. A cancelled or failed one leaves the last result as it was.
  func detect(
    _ configuration: Handoff<ENExposureConfiguration>, keyFiles: [URL], progress: Progress
  ) async throws -> Handoff<ENExposureDetectionSummary> {
    try requireEnabled()
    do {
      let detection = try Detection(
        configuration: configuration.value, keyFiles: keyFiles, verificationKeys: region.keys,
        sightings: try await contacts.sightings(), now: clock.now, apiVersion: apiVersion,
        progress: progress)
      try await detections.begin(at: clock.now, limit: detectionLimit)
      let result = try await Self.run(detection)
      guard !progress.isCancelled else { throw CancellationError() }
      await detections.end(with: result)
      return Handoff(result.summary)
    } catch {
      throw ENError.reason(for: error)
    }
  }

  /// The exposures of the last detection, after telling the person why the app looks at them.
  func exposureInfo(
    of summary: ExposureSummary, explanation: String
  ) async throws -> Handoff<[ENExposureInfo]> {
    guard apiVersion == 1 else { throw ENError(.unsupported) }
    try requireEnabled()
    let result = try await detections.result(of: summary)
    guard await permissions.allowsShowing(explanation) else { throw ENError(.notAuthorized) }
    return Handoff(result.infos)
  }

  /// The exposure windows of the last detection.
  func exposureWindows(of summary: ExposureSummary) async throws -> Handoff<[ENExposureWindow]> {
    guard apiVersion == 2 else { throw ENError(.unsupported) }
    try requireEnabled()
    return Handoff(try await detections.result(of: summary).windows)
  }

  /// On a thread of its own: minutes of matching must not keep the radio's calls waiting.
  private static func run(_ detection: Detection) async throws -> DetectionResult {
    try await withCheckedThrowingContinuation { done in
      DispatchQueue.global(qos: .utility).async {
        done.resume(with: Result(catching: detection.run))
      }
    }
  }

  private var detectionLimit: Int {
    apiVersion == 2 ? DeviceLimit.detectionsPerDayVersion2 : DeviceLimit.detectionsPerDayVersion1
  }
}
