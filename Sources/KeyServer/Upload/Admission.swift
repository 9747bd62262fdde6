import CallableEnvelope
import ExposureKeys
import Foundation
import KeyServerAPI
import UploadToken

/// Checks an upload: who, then from where, then what. Nothing is spent or kept here.
///
/// Documentation/SeedContract.md 4.5 has the order and the answers.
struct Admission: Sendable {
  let tokens: UploadTokenVerifier
  let appPackages: Set<String>
  let regions: Set<String>
  let platforms: Set<String>

  /// The upload, fit to be kept.
  func admit(
    _ request: UploadRequest, at now: Date
  ) async throws(UploadRefusal) -> AdmittedUpload {
    let payload = request.data
    let grant = try await grant(of: payload, at: now)
    try checkBinding(of: grant, to: payload)
    try checkOrigin(of: payload)
    let keys = payload.temporaryExposureKeys
    if let breach = UploadLimit.breach(of: keys, at: now) { throw .broken(breach.description) }
    return AdmittedUpload(
      tokenID: grant.tokenID, tokenKeptUntil: UsedToken.keptUntil(grant),
      digest: UploadDigest.of(request),
      keys: publishable(request, granted: grant, at: now), answer: UploadAnswer.accepted.result)
  }

  private func grant(
    of payload: UploadPayload, at now: Date
  ) async throws(UploadRefusal) -> UploadGrant {
    guard let text = payload.verificationPayload, text.utf8.count <= UploadLimit.tokenBytesMax
    else { throw .unauthenticated }
    do {
      return try await tokens.verified(UnverifiedUploadToken(text), at: now).grant
    } catch {
      throw .unauthenticated
    }
  }

  /// A token that names keys is good for those keys only.
  private func checkBinding(
    of grant: UploadGrant, to payload: UploadPayload
  ) throws(UploadRefusal) {
    guard let code = grant.keyHMAC else { return }
    guard let secret = payload.hmackey.flatMap({ Data(base64Encoded: $0) }),
      UploadLimit.hmacKeyBytes.contains(secret.count),
      KeyHMAC.isValid(code, over: payload.temporaryExposureKeys, secret: secret)
    else { throw .unauthenticated }
  }

  private func checkOrigin(of payload: UploadPayload) throws(UploadRefusal) {
    guard UploadLimit.regionCount.contains(payload.regions.count) else {
      throw .broken("An upload names 1 to 10 regions.")
    }
    guard appPackages.contains(payload.appPackageName), platforms.contains(payload.platform),
      payload.regions.allSatisfy({ regions.contains($0.uppercased()) })
    else { throw .notAllowed }
  }

  private func publishable(
    _ request: UploadRequest, granted grant: UploadGrant, at now: Date
  ) -> [PublishableKey] {
    let onset = SymptomOnset(grant.symptomOnsetInterval, at: now)
    let regions = Set(request.data.regions.map { $0.uppercased() }).sorted()
    return request.data.temporaryExposureKeys.compactMap(\.diagnosisKey).compactMap { sent in
      DiagnosisKey(
        key: sent.key, transmissionRiskLevel: sent.transmissionRiskLevel,
        reportType: Self.reportType(grant.reportType),
        daysSinceOnsetOfSymptoms: onset.days(to: sent.key))
    }.map { key in
      PublishableKey(
        key: key, regions: regions, travels: request.isInteroperabilityEnabled ?? false,
        releasedAt: Embargo.release(of: key.key, receivedAt: now))
    }
  }

  /// The file's name for what the token's issuer found.
  private static func reportType(_ name: String) -> ReportType? {
    switch name {
    case UploadGrant.confirmed: .confirmedTest
    case "likely": .confirmedClinicalDiagnosis
    case "user-report": .selfReport
    default: nil
    }
  }
}
