import CallableEnvelope
import ExposureKeys
import Foundation
import KeyServerAPI
import UploadToken

/// Checks an upload in the seed's form: who, then from where, then what. Nothing is spent or kept here.
///
/// Documentation/SeedContract.md 4.5 has the order and the answers.
struct Admission: Sendable {
  /// Who issues upload tokens.
  let issuer: String
  let register: RegisterDesk
  let region: String
  let platforms: Set<String>

  /// The upload, fit to be kept.
  func admit(
    _ request: UploadRequest, at now: Date
  ) async throws(UploadRefusal) -> AdmittedUpload {
    let payload = request.data
    let grant = try await grant(of: payload, at: now)
    try checkBinding(of: grant, to: payload)
    try await checkOrigin(of: payload)
    let keys = payload.temporaryExposureKeys.map(SentKey.init)
    if let breach = UploadLimit.breach(of: keys, at: now) { throw .broken(breach.description) }
    let onset = SymptomOnset(grant.symptomOnsetInterval, at: now)
    let publishable = publishable(keys, of: request, granted: grant, onset: onset, at: now)
    do {
      return try AdmittedUpload(
        token: UsedToken(grant, issuer: issuer, at: now), digest: UploadDigest.of(request),
        keys: publishable,
        revision: .leaveKnown,
        facts: UploadFacts(
          issuer: issuer, platform: StatisticPlatform(seedName: payload.platform), onset: onset,
          keys: publishable, at: now),
        answer: { _ in Data(UploadAnswer.accepted.result.utf8) })
    } catch {
      throw .unavailable
    }
  }

  private func grant(
    of payload: UploadPayload, at now: Date
  ) async throws(UploadRefusal) -> UploadGrant {
    guard let text = payload.verificationPayload, text.utf8.count <= UploadLimit.tokenBytesMax
    else { throw .unauthenticated }
    let token = UnverifiedUploadToken(text)
    let tokens = try await known().tokens
    do throws(UploadTokenRefusal) {
      return try await tokens.verified(token, at: now).grant
    } catch {
      guard error == .unknownKey else { throw .unauthenticated }
    }
    // The key may have come since the register was read.
    let register: Register
    do { register = try await self.register.registerForUnknownKey() } catch { throw .unavailable }
    do { return try await register.tokens.verified(token, at: now).grant } catch {
      throw .unauthenticated
    }
  }

  private func known() async throws(UploadRefusal) -> Register {
    do { return try await register.register() } catch { throw .unavailable }
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

  private func checkOrigin(of payload: UploadPayload) async throws(UploadRefusal) {
    guard UploadLimit.regionCount.contains(payload.regions.count) else {
      throw .broken("An upload names 1 to 10 regions.")
    }
    let known = try await known()
    guard let app = known.apps[payload.appPackageName], app.authorities.contains(issuer),
      platforms.contains(payload.platform)
    else { throw .notAllowed }
    let allowed = app.regions.isEmpty ? [region] : app.regions
    guard payload.regions.allSatisfy({ allowed.contains($0.uppercased()) }) else {
      throw .notAllowed
    }
  }

  private func publishable(
    _ keys: [SentKey], of request: UploadRequest, granted grant: UploadGrant, onset: SymptomOnset,
    at now: Date
  ) -> [PublishableKey] {
    let regions = Set(request.data.regions.map { $0.uppercased() }).sorted()
    return keys.compactMap { sent in
      guard let key = sent.exposureKey, let risk = UInt8(exactly: sent.risk ?? 0) else {
        return nil
      }
      let days = onset.days(to: key)
      return DiagnosisKey(
        key: key, transmissionRiskLevel: risk,
        reportType: Finding(rawValue: grant.reportType)?.reportType,
        daysSinceOnsetOfSymptoms: days.flatMap {
          KeyServerLimit.daysSinceOnset.contains($0) ? $0 : nil
        })
    }.map { key in
      PublishableKey(
        key: key, regions: regions, travels: request.isInteroperabilityEnabled ?? false,
        releasedAt: Embargo.release(of: key.key, receivedAt: now))
    }
  }
}
