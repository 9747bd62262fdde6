import Foundation
import KeyServerAPI
import UploadToken

/// Checks a publish: which app, by whose certificate, for which keys. Nothing is spent or kept here.
///
/// Documentation/KeyServer.md 7.2 has the order and the answers.
struct PublishAdmission: Sendable {
  let register: RegisterDesk
  let revisionKeys: RevisionKeyDesk
  let defaultRegion: String?
  let allowsPartialRevisions: Bool

  /// The upload, fit to be kept.
  func admit(
    _ request: PublishRequest, from platform: StatisticPlatform, at now: Date
  ) async throws(PublishRefusal) -> AdmittedUpload {
    let known = try await loaded()
    guard let app = known.apps[request.healthAuthorityID] else { throw .unknownApp }
    let regions = app.regions.isEmpty ? defaultRegion.map { [$0] } ?? [] : app.regions.sorted()
    guard !regions.isEmpty else { throw .missingRegion }
    let text = request.verificationPayload ?? ""
    let verified = try await verified(UnverifiedCertificate(text), in: known, at: now)
    guard app.authorities.contains(verified.issuer) else { throw .certificate }
    let sent = request.temporaryExposureKeys.map(SentKey.init)
    let finding = try finding(of: verified.certificate, over: sent, secret: request.hmacKey)
    let onset = Self.onset(of: request, verified.certificate, at: now)
    let keys = try SortedKeys(
      sent,
      .init(
        finding: finding, onset: onset, regions: regions, travels: request.traveler ?? false,
        now: now))
    let ring = try await keyring()
    let (policy, earlier) = revision(request.revisionToken ?? "", ring)
    do {
      return try AdmittedUpload(
        token: UsedToken(verified, text: text, at: now),
        digest: UploadDigest.of(request, keys: sent), keys: keys.taken, revision: policy,
        facts: UploadFacts(
          issuer: verified.issuer, platform: platform, onset: onset, keys: keys.taken, at: now),
        answer: { outcome in
          try PublishAnswer(keys, outcome, earlier: earlier, sealedWith: ring, at: now).json
        })
    } catch {
      throw .unavailable
    }
  }

  private func loaded() async throws(PublishRefusal) -> Register {
    do { return try await register.register() } catch { throw .cannotLoadApp }
  }

  private func keyring() async throws(PublishRefusal) -> RevisionKeyring {
    do { return try await revisionKeys.keyring() } catch { throw .unavailable }
  }

  private func verified(
    _ certificate: UnverifiedCertificate, in known: Register, at now: Date
  ) async throws(PublishRefusal) -> VerifiedCertificate {
    do throws(UploadTokenRefusal) {
      return try known.certificates.verified(certificate, at: now)
    } catch {
      guard error == .unknownKey else { throw .certificate }
    }
    // The key may have come since the register was read.
    let register: Register
    do { register = try await self.register.registerForUnknownKey() } catch { throw .cannotLoadApp }
    do { return try register.certificates.verified(certificate, at: now) } catch {
      throw .certificate
    }
  }

  /// A certificate is good for the keys of its HMAC only.
  private func finding(
    of certificate: VerificationCertificate, over keys: [SentKey], secret: String?
  ) throws(PublishRefusal) -> Finding {
    guard let finding = Finding(rawValue: certificate.reportType),
      let secret = secret.flatMap(Base64Text.bytes),
      KeyHMAC.isValid(certificate.keyHMAC, over: keys, secret: secret)
    else { throw .certificate }
    return finding
  }

  private static func onset(
    of request: PublishRequest, _ certificate: VerificationCertificate, at now: Date
  ) -> SymptomOnset {
    let sent = request.symptomOnsetInterval.flatMap { UInt32(exactly: $0) }
    return SymptomOnset(firstOf: [sent, certificate.symptomOnsetInterval], at: now)
  }

  private func revision(
    _ text: String, _ ring: RevisionKeyring
  ) -> (RevisionPolicy, earlier: [RevisableKey]) {
    let token = RevisionToken(text, with: ring)
    let sent: RevisionPolicy.Sent =
      text.isEmpty ? .absent : token.map { .read($0) } ?? .unreadable
    return (.token(sent, allowsPartial: allowsPartialRevisions), token?.keys ?? [])
  }
}
