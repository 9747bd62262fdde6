import Foundation
import KeyServerAPI
import Testing
import VerificationAPI

@testable import ExposureApp

@Suite("Upload state machine") struct UploadFlowTests {
  private let now = TestApp.noon
  private let attestation = DeviceVerificationPayload(
    deviceToken: Data([1]), transactionID: "t", timestampMilliseconds: 1)
  private let otherAttestation = DeviceVerificationPayload(
    deviceToken: Data([2]), transactionID: "t", timestampMilliseconds: 2)

  private func code(_ text: String = "A1B2C3") throws -> VerificationCode {
    try #require(VerificationCode(text))
  }

  private func key(daysAgo: Int, number: UInt8 = 0) -> PendingUpload.Key {
    let start = (UInt32(now.timeIntervalSince1970 / 86_400) - UInt32(daysAgo)) * 144
    return PendingUpload.Key(
      data: Data(repeating: UInt8(daysAgo) * 8 + number, count: 16), rollingPeriod: 144,
      rollingStartNumber: start, transmissionRisk: 8)
  }

  private func pending(at begun: Date? = nil) throws -> PendingUpload {
    PendingUpload(
      code: try code(), keys: [key(daysAgo: 1)], hmacSecret: Data([9]),
      isInteroperabilityEnabled: true, at: begun ?? now)
  }

  private func newFlow(_ pending: PendingUpload? = nil) -> UploadFlow {
    UploadFlow(pending: pending, isInteroperabilityEnabled: true)
  }

  @Test("The steps are keys, attestation, token and upload; the PIN is used only for the token")
  func straight() throws {
    var flow = newFlow()
    let pending = try pending()
    #expect(flow.receivedPIN(try code(), at: now) == .requestKeys)
    let step = flow.receivedKeys([key(daysAgo: 1)], hmacSecret: Data([9]), at: now)
    #expect(step == .requestAttestation(pending))
    let attested = pending.attested(by: attestation)
    #expect(flow.receivedAttestation(attestation) == .requestToken(attested))
    let granted = attested.granted("token", at: now)
    #expect(flow.receivedToken("token", at: now) == .send(granted))
    #expect(flow.state == .sending(granted))
    #expect(flow.receivedAcceptance() == .end(.success, keepsPending: false))
    #expect(flow.state == .ended)
  }

  @Test("A refused consent or unsuitable keys end the upload before the PIN is used")
  func beforeThePIN() throws {
    var flow = newFlow()
    _ = flow.receivedPIN(try code(), at: now)
    #expect(
      flow.failed(.notAgreed)
        == .end(UploadOutcome(result: .accessDenied, reason: .notAgreed), keepsPending: false))
    let bad: [([PendingUpload.Key], UploadFailure)] = [
      ([], .nothingToShare), ([key(daysAgo: 14)], .nothingToShare),
      ((0..<4).map { key(daysAgo: 1, number: $0) }, .tooManyKeysOfOneDay),
      ((1...11).flatMap { day in (0..<3).map { key(daysAgo: day, number: $0) } }, .tooManyKeys),
    ]
    for (keys, reason) in bad {
      var flow = newFlow()
      _ = flow.receivedPIN(try code(), at: now)
      #expect(
        flow.receivedKeys(keys, hmacSecret: Data([9]), at: now)
          == .end(UploadOutcome(result: .canceled, reason: reason), keepsPending: false))
    }
  }

  @Test("A failed attestation ends a new upload and keeps an earlier one")
  func noAttestation() throws {
    var new = newFlow()
    _ = new.receivedPIN(try code(), at: now)
    _ = new.receivedKeys([key(daysAgo: 1)], hmacSecret: Data([9]), at: now)
    #expect(new.failed(.noDeviceToken) == .end(UploadOutcome(.noDeviceToken), keepsPending: false))
    var old = newFlow(try pending())
    _ = old.receivedPIN(try code(), at: now)
    #expect(old.failed(.noDeviceToken) == .end(UploadOutcome(.noDeviceToken), keepsPending: true))
  }

  @Test(
    "During the token request, a refusal discards the upload and other failures keep it",
    arguments: [
      (UploadFailure.pinRefused, false), (.noInternet, true), (.stopped, true),
      (.serverBusy(retryAfterSeconds: 3), true), (.storage(.full), true),
    ])
  func tokenFails(reason: UploadFailure, keeps: Bool) throws {
    var flow = newFlow(try pending())
    _ = flow.receivedPIN(try code(), at: now)
    _ = flow.receivedAttestation(attestation)
    #expect(flow.failed(reason) == .end(UploadOutcome(reason), keepsPending: keeps))
  }

  @Test(
    "During the upload request, a refusal discards the upload and other failures keep it",
    arguments: [
      (UploadFailure.uploadRefused, false), (.noInternet, true), (.stopped, true),
      (.serverBusy(retryAfterSeconds: nil), true),
    ])
  func sendFails(reason: UploadFailure, keeps: Bool) throws {
    var flow = newFlow(try pending().granted("token", at: now))
    _ = flow.receivedPIN(try code(), at: now)
    _ = flow.receivedAttestation(attestation)
    #expect(flow.failed(reason) == .end(UploadOutcome(reason), keepsPending: keeps))
  }

  @Test("An upload without a token continues with its own PIN, the same keys and secret")
  func resumesWithPIN() throws {
    let pending = try pending()
    var flow = newFlow(pending.attested(by: attestation))
    #expect(
      flow.receivedPIN(try code(), at: now)
        == .requestAttestation(pending.attested(by: attestation)))
    #expect(
      flow.receivedAttestation(otherAttestation)
        == .requestToken(pending.attested(by: otherAttestation)))
    var other = newFlow(pending)
    #expect(other.receivedPIN(try code("Z9Z9Z9"), at: now) == .requestKeys)
  }

  @Test("An upload with a token continues with any PIN")
  func resumesWithToken() throws {
    let granted = try pending().granted("token", at: now)
    var flow = newFlow(granted)
    #expect(flow.receivedPIN(try code("Z9Z9Z9"), at: now) == .requestAttestation(granted))
    #expect(flow.receivedAttestation(attestation) == .send(granted.attested(by: attestation)))
  }

  @Test("An upload that is half an hour old is not continued")
  func expiry() throws {
    let end = RemovalRule.pendingUploadSeconds
    // The last one was started before the clock was set back.
    for (age, isOver) in [(end - 1, false), (end, true), (end + 1, true), (-end, true)] {
      let old = try pending(at: now.addingTimeInterval(-age))
      var flow = newFlow(old)
      let step = flow.receivedPIN(try code(), at: now)
      #expect((step == .requestKeys) == isOver)
    }
  }

  @Test("An unexpected event changes nothing")
  func unexpected() throws {
    var flow = newFlow()
    let unexpectedEvent = UploadFlow.Step.end(UploadOutcome(.alreadyRunning), keepsPending: true)
    #expect(flow.receivedAcceptance() == unexpectedEvent)
    #expect(flow.receivedToken("t", at: now) == unexpectedEvent)
    #expect(flow.receivedAttestation(attestation) == unexpectedEvent)
    #expect(flow.receivedKeys([], hmacSecret: Data(), at: now) == unexpectedEvent)
    #expect(flow.state == .waitingForPIN)
    _ = flow.receivedPIN(try code(), at: now)
    #expect(flow.receivedPIN(try code(), at: now) == unexpectedEvent)
    _ = flow.failed(.notAgreed)
    #expect(flow.failed(.noInternet) == unexpectedEvent)
  }

  @Test("Descriptions and dumps of an upload contain no secret")
  func redacted() throws {
    let pending = try pending().granted("secret-token", at: now)
    var text = "\(pending) \(pending.keys)"
    dump(pending, to: &text)
    dump(pending.keys, to: &text)
    for secret in ["A1B2C3", "secret-token", pending.keys[0].data.base64EncodedString()] {
      #expect(!text.contains(secret))
    }
  }
}
