import ExposureNotification
import Foundation

@MainActor
func infoPage() async throws {
  let stage = try await Stage()
  let manager = stage.manager
  // On the page.
  let summary = try await stage.summary()
  await withCheckedContinuation { done in
    manager.getExposureInfo(summary: summary, userExplanation: "To show your meetings.") {
      infos, error in
      for info in infos ?? [] {
        print(
          info.duration / 60, "minutes at", info.attenuationValue, "dB, score", info.totalRiskScore)
      }
      done.resume()
    }
  }
  // Until here.
}
