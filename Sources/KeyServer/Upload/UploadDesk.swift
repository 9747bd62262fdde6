import CallableEnvelope
import Foundation
import KeyServerAPI
import Logging
import World

/// Takes uploads in the seed's form: check, check the device, keep. What was kept is answered the same
/// again.
struct UploadDesk: Sendable {
  let admission: Admission
  let devices: DeviceVerification
  let store: any KeyStore
  let clock: any WallClock

  /// Keeps the upload and returns what to answer, or says why not.
  ///
  /// The rules of Documentation/SeedContract.md 4.6: a token is spent, its keys are inserted and its
  /// answer is stored in one transaction, after everything else has been checked.
  func accept(
    _ request: UploadRequest, logger: Logger
  ) async throws(UploadRefusal) -> UploadAnswer {
    let now = clock.now
    let upload = try await admission.admit(request, at: now)
    if devices.isRequired(of: request.data) {
      // Before the device check: an upload that is in is answered even when its proof has gone stale.
      let earlier = try await Self.kept(logger) { try await store.acceptance(of: upload) }
      if let earlier { return try Self.answer(earlier) }
    }
    try await devices.verify(request.data, at: now)
    let acceptance = try await Self.kept(logger) { try await store.accept(upload) }
    return try Self.answer(acceptance)
  }

  /// What a decoy goes through: the same checks, with no effect and no say in the answer.
  func consider(_ decoy: UploadRequest) async {
    _ = try? await admission.admit(decoy, at: clock.now)
  }

  private static func answer(_ acceptance: Acceptance) throws(UploadRefusal) -> UploadAnswer {
    switch acceptance {
    case .accepted(let answer): UploadAnswer(result: String(decoding: answer, as: UTF8.self))
    case .tokenUsed, .refused: throw .unauthenticated
    }
  }

  /// Storage that fails keeps nothing, and the phone may come again.
  private static func kept<Value: Sendable>(
    _ logger: Logger, _ work: () async throws -> Value
  ) async throws(UploadRefusal) -> Value {
    do {
      return try await work()
    } catch {
      logger.error("storage failed", metadata: KeyServerError.metadata(of: error))
      throw .unavailable
    }
  }
}
