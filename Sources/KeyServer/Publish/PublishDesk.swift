import Foundation
import KeyServerAPI
import Logging
import World

/// Takes publishes: check, keep. What was kept is answered the same again.
struct PublishDesk: Sendable {
  let admission: PublishAdmission
  let store: any KeyStore
  let clock: any WallClock

  /// Keeps the upload and returns the text of the answer, or says why not.
  ///
  /// The certificate is spent, the keys are inserted or revised, the answer with its revision token is
  /// stored and the upload is counted in one transaction: Documentation/KeyServer.md 7.7.
  func accept(
    _ request: PublishRequest, from platform: StatisticPlatform, logger: Logger
  ) async throws(PublishRefusal) -> Data {
    let upload = try await admission.admit(request, from: platform, at: clock.now)
    switch try await kept(upload, logger) {
    case .accepted(let answer): return answer
    case .tokenUsed: throw .certificate
    case .refused(let refusal): throw .revision(refusal)
    }
  }

  /// What a decoy goes through: the same checks, with no effect and no say in the answer.
  func consider(_ decoy: PublishRequest) async {
    _ = try? await admission.admit(decoy, from: .unknown, at: clock.now)
  }

  private func kept(
    _ upload: AdmittedUpload, _ logger: Logger
  ) async throws(PublishRefusal) -> Acceptance {
    do {
      return try await store.accept(upload)
    } catch {
      logger.error("storage failed", metadata: KeyServerError.metadata(of: error))
      throw .unavailable
    }
  }
}
