import CallableEnvelope
import ExposureKeys
import Foundation
import KeyServerAPI
import UploadToken

/// Checks an upload of the ProteGO Safe contract: the token, then the origin, then the keys.
///
/// It stores nothing and does not mark the token as used.
struct UploadAdmission: Sendable {
  /// The issuer of upload tokens.
  let issuer: String
  let registry: CachedRegistry
  let region: String
  let platforms: Set<String>
  /// The keys of the digests of tokens and uploads.
  let keys: DatabaseKeys

  func admit(
    _ request: UploadRequest, at now: Date
  ) async throws(UploadRefusal) -> AdmittedUpload {
    let payload = request.data
    let grant = try await grant(of: payload, at: now)
    let keys = payload.temporaryExposureKeys.map(UploadedKey.init)
    try checkBinding(of: grant, to: keys, secret: payload.hmackey)
    try await checkOrigin(of: payload)
    if let violation = UploadLimit.violation(of: keys, at: now) {
      throw .invalidRequest(violation.description)
    }
    let onset = SymptomOnset(grant.symptomOnsetInterval, at: now)
    let publishable = publishable(keys, of: request, granted: grant, onset: onset, at: now)
    do {
      return try AdmittedUpload(
        token: UsedToken(grant, issuer: issuer, at: now, keys: self.keys),
        digest: UploadDigest.of(request, keys: keys, under: self.keys), keys: publishable,
        revision: .leaveKnown,
        facts: UploadStatistics(
          issuer: issuer, tokenIssuedAt: grant.issuedAt,
          platform: UploadPlatform(name: payload.platform), onset: onset, keys: publishable, at: now
        ),
        response: { _ in Data(UploadResponse.accepted.result.utf8) })
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
    let tokens = try await currentRegistry().tokens
    do throws(UploadTokenRefusal) {
      return try await tokens.verified(token, at: now).grant
    } catch {
      guard error == .unknownKey else { throw .unauthenticated }
    }
    // The key may have been added since the registry was read.
    let reread: Registry
    do { reread = try await registry.registryForUnknownKey() } catch { throw .unavailable }
    do { return try await reread.tokens.verified(token, at: now).grant } catch {
      throw .unauthenticated
    }
  }

  private func currentRegistry() async throws(UploadRefusal) -> Registry {
    do { return try await registry.registry() } catch { throw .unavailable }
  }

  /// Rejects keys other than those that the token is bound to, if it is bound.
  private func checkBinding(
    of grant: UploadGrant, to keys: [UploadedKey], secret: String?
  ) throws(UploadRefusal) {
    guard let code = grant.keyHMAC else { return }
    guard let secret = secret.flatMap({ Data(base64Encoded: $0) }),
      UploadLimit.hmacKeyBytes.contains(secret.count),
      KeyHMAC.isValid(code, over: keys, secret: secret)
    else { throw .unauthenticated }
  }

  private func checkOrigin(of payload: UploadPayload) async throws(UploadRefusal) {
    guard UploadLimit.regionCount.contains(payload.regions.count) else {
      throw .invalidRequest("An upload names 1 to 10 regions.")
    }
    let known = try await currentRegistry()
    guard let app = known.apps[payload.appPackageName], app.authorities.contains(issuer),
      platforms.contains(payload.platform)
    else { throw .notAllowed }
    let allowed = app.regions.isEmpty ? [region] : app.regions
    guard payload.regions.allSatisfy({ allowed.contains($0.uppercased()) }) else {
      throw .notAllowed
    }
  }

  private func publishable(
    _ keys: [UploadedKey], of request: UploadRequest, granted grant: UploadGrant,
    onset: SymptomOnset,
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
        reportType: CertifiedReportType(rawValue: grant.reportType)?.reportType,
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
