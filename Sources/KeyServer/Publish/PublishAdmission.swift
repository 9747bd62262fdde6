// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import KeyServerAPI
import TextEncodings
import UploadToken
import World

/// Checks an upload of Google's contract: the app, then the certificate, then the keys.
///
/// It stores nothing and does not mark the certificate as used.
struct PublishAdmission: Sendable {
  let registry: CachedRegistry
  let revisionKeys: RevisionKeys
  /// The keys of the digests of certificates and uploads.
  let keys: DatabaseKeys
  let defaultRegion: String?
  let allowsPartialRevisions: Bool
  /// The authorities whose published keys no other authority may revise.
  let realmIssuers: Set<String>
  let randomness: any Randomness

  func admit(
    _ request: PublishRequest, from platform: UploadPlatform, at now: Date
  ) async throws(PublishRefusal) -> AdmittedUpload {
    let known = try await currentRegistry()
    // Certificates have no mark of the canary.
    guard request.healthAuthorityID != CanaryUploads.app,
      let app = known.apps[request.healthAuthorityID]
    else { throw .unknownApp }
    let regions = app.regions.isEmpty ? defaultRegion.map { [$0] } ?? [] : app.regions.sorted()
    guard !regions.isEmpty else { throw .missingRegion }
    let text = request.verificationPayload ?? ""
    let verified = try await verified(text, in: known, at: now)
    guard app.authorities.contains(verified.issuer) else { throw .certificate(.notOfApp) }
    let sent = request.temporaryExposureKeys.map(UploadedKey.init)
    let reportType = try reportType(of: verified.certificate, over: sent, secret: request.hmacKey)
    let onset = Self.onset(of: request, verified.certificate, at: now)
    let keys = try CheckedKeys(
      sent,
      .init(
        reportType: reportType, onset: onset, regions: regions, travels: request.traveler ?? false,
        now: now))
    let ring = try await keyring(of: verified.issuer)
    let (policy, earlier) = revision(request.revisionToken ?? "", ring)
    do {
      return try AdmittedUpload(
        token: UsedToken(verified, text: text, at: now, keys: self.keys),
        digest: UploadDigest.of(request, keys: sent, under: self.keys), keys: keys.accepted,
        revision: policy,
        facts: UploadStatistics(
          issuer: verified.issuer, tokenIssuedAt: verified.certificate.issuedAt, platform: platform,
          onset: onset, keys: keys.accepted, at: now),
        response: { outcome in
          try PublishResponse(
            keys, outcome, earlier: earlier, sealedWith: ring, at: now, randomness: randomness
          ).json
        })
    } catch {
      throw .unavailable
    }
  }

  private func currentRegistry() async throws(PublishRefusal) -> Registry {
    do { return try await registry.registry() } catch { throw .cannotLoadApp }
  }

  private func keyring(of issuer: String) async throws(PublishRefusal) -> RevisionKeyring {
    let ring: RevisionKeyring
    do { ring = try await revisionKeys.keyring() } catch { throw .unavailable }
    return realmIssuers.contains(issuer) ? ring.bound(toRealm: issuer) : ring
  }

  private func verified(
    _ text: String, in known: Registry, at now: Date
  ) async throws(PublishRefusal) -> VerifiedCertificate {
    let certificate = UnverifiedCertificate(text)
    do throws(UploadTokenRefusal) {
      return try known.certificates.verified(certificate, at: now)
    } catch {
      guard error == .unknownKey else { throw Self.refusal(error, of: text, at: now) }
    }
    // The key may have been added since the registry was read.
    let reread: Registry
    do { reread = try await registry.registryForUnknownKey() } catch { throw .cannotLoadApp }
    do throws(UploadTokenRefusal) {
      return try reread.certificates.verified(certificate, at: now)
    } catch {
      throw Self.refusal(error, of: text, at: now)
    }
  }

  private static func refusal(
    _ error: UploadTokenRefusal, of text: String, at now: Date
  ) -> PublishRefusal {
    .certificate(text.isEmpty ? .missingToken : RefusalCause(error, of: text, at: now))
  }

  /// Rejects keys other than those of the certificate's HMAC.
  private func reportType(
    of certificate: VerificationCertificate, over keys: [UploadedKey], secret: String?
  ) throws(PublishRefusal) -> CertifiedReportType {
    guard let reportType = CertifiedReportType(rawValue: certificate.reportType) else {
      throw .certificate(.reportType)
    }
    guard let secret = secret.flatMap(Base64.bytes),
      KeyHMAC.isValid(certificate.keyHMAC, over: keys, secret: secret)
    else { throw .certificate(.keyHMAC) }
    return reportType
  }

  private static func onset(
    of request: PublishRequest, _ certificate: VerificationCertificate, at now: Date
  ) -> SymptomOnset {
    let sent = request.symptomOnsetInterval.flatMap { UInt32(exactly: $0) }
    return SymptomOnset(firstOf: [sent, certificate.symptomOnsetInterval], at: now)
  }

  private func revision(
    _ text: String, _ ring: RevisionKeyring
  ) -> (RevisionPolicy, earlier: [TemporaryExposureKey]) {
    let token = RevisionToken(text, with: ring)
    let sent: RevisionPolicy.Sent =
      text.isEmpty ? .absent : token.map { .valid($0) } ?? .invalid
    return (.token(sent, allowsPartial: allowsPartialRevisions), token?.keys ?? [])
  }
}

/// The keys of an upload of Google's contract: the accepted keys, and the reasons why others are not.
///
/// In this contract one invalid key does not reject the others.
struct CheckedKeys: Sendable {
  private(set) var accepted: [PublishableKey] = []
  /// One sentence for each invalid key.
  private(set) var faults: [String] = []
  /// One sentence for each key that is too far from the onset of symptoms, which is not the client's fault.
  private(set) var warnings: [String] = []

  /// The properties that all keys of an upload share.
  struct Context: Sendable {
    let reportType: CertifiedReportType
    let onset: SymptomOnset
    let regions: [String]
    let travels: Bool
    let now: Date
  }

  /// - Throws: `.invalidRequest` if the upload as a whole breaks a rule, or if every key is invalid.
  init(_ keys: [UploadedKey], _ context: Context) throws(PublishRefusal) {
    guard UploadLimit.keyCount.contains(keys.count) else {
      throw .invalidRequest(UploadViolation.keyCount.description)
    }
    let window = KeyWindow(at: context.now)
    accepted.reserveCapacity(keys.count)
    for (index, key) in keys.enumerated() {
      if let violation = window.violation(of: key) {
        faults.append("Key \(index): \(violation)")
      } else {
        accept(key, at: index, context)
      }
    }
    if let violation = UploadLimit.breachTogether(of: accepted.map(\.key.key)) {
      throw .invalidRequest("\(violation)")
    }
    if faults.count == keys.count { throw .invalidRequest(faults.joined(separator: " ")) }
  }

  /// Accepts one valid key, or adds a warning.
  private mutating func accept(
    _ sent: UploadedKey, at index: Int, _ context: Context
  ) {
    guard let key = sent.exposureKey, let sentRisk = UInt8(exactly: sent.risk ?? 0) else { return }
    let days = context.onset.days(to: key)
    if let days, !KeyServerLimit.daysSinceOnset.contains(days) {
      warnings.append(
        "Key \(index) begins \(abs(days)) days from the onset of symptoms, more than"
          + " \(KeyServerLimit.daysSinceOnset.upperBound); it was not published.")
      return
    }
    let risk = sentRisk == 0 ? context.reportType.transmissionRisk : sentRisk
    guard
      let diagnosisKey = DiagnosisKey(
        key: key, transmissionRiskLevel: risk, reportType: context.reportType.reportType,
        daysSinceOnsetOfSymptoms: days)
    else { return }
    accepted.append(
      PublishableKey(
        key: diagnosisKey, regions: context.regions, travels: context.travels,
        releasedAt: Embargo.release(of: key, receivedAt: context.now)))
  }
}
