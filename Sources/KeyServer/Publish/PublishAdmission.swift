import ExposureKeys
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

/// The keys of a publish, sorted into those that are taken and those that are not.
///
/// Documentation/KeyServer.md 7.3: one bad key does not refuse the others here.
struct SortedKeys: Sendable {
  private(set) var taken: [PublishableKey] = []
  /// A sentence for each key that breaks a rule.
  private(set) var faults: [String] = []
  /// A sentence for each key that lies too far from the onset of symptoms: no fault of the phone's.
  private(set) var warnings: [String] = []

  /// What the keys are, and where and since when they count.
  struct Circumstances: Sendable {
    let finding: Finding
    let onset: SymptomOnset
    let regions: [String]
    let travels: Bool
    let now: Date
  }

  /// Sorts `keys`.
  ///
  /// - Throws: `.broken` where the upload as a whole breaks a rule, or no key is left for their faults.
  init(_ keys: [SentKey], _ circumstances: Circumstances) throws(PublishRefusal) {
    guard UploadLimit.keyCount.contains(keys.count) else {
      throw .broken(UploadBreach.keyCount.description)
    }
    let window = KeyWindow(at: circumstances.now)
    taken.reserveCapacity(keys.count)
    for (index, key) in keys.enumerated() {
      if let breach = window.breach(of: key) {
        faults.append("Key \(index): \(breach)")
      } else {
        take(key, at: index, circumstances)
      }
    }
    if let breach = UploadLimit.breachTogether(of: taken.map(\.key.key)) {
      throw .broken("\(breach)")
    }
    if faults.count == keys.count { throw .broken(faults.joined(separator: " ")) }
  }

  /// Takes one key that breaks no rule by itself, or warns.
  private mutating func take(
    _ sent: SentKey, at index: Int, _ circumstances: Circumstances
  ) {
    guard let key = sent.exposureKey, let sentRisk = UInt8(exactly: sent.risk ?? 0) else { return }
    let days = circumstances.onset.days(to: key)
    if let days, !KeyServerLimit.daysSinceOnset.contains(days) {
      warnings.append(
        "Key \(index) begins \(abs(days)) days from the onset of symptoms, more than"
          + " \(KeyServerLimit.daysSinceOnset.upperBound); it was not taken.")
      return
    }
    let risk = sentRisk == 0 ? circumstances.finding.transmissionRisk : sentRisk
    guard
      let diagnosisKey = DiagnosisKey(
        key: key, transmissionRiskLevel: risk, reportType: circumstances.finding.reportType,
        daysSinceOnsetOfSymptoms: days)
    else { return }
    taken.append(
      PublishableKey(
        key: diagnosisKey, regions: circumstances.regions, travels: circumstances.travels,
        releasedAt: Embargo.release(of: key, receivedAt: circumstances.now)))
  }
}
