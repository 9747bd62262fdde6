// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Secrets
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Upload state machine") struct UploadFlowTests {
  private let now = TestApp.noon
  private let attestation = DeviceVerificationPayload(
    deviceToken: Data([1]), transactionID: "t", timestampMilliseconds: 1)
  private let otherAttestation = DeviceVerificationPayload(
    deviceToken: Data([2]), transactionID: "t", timestampMilliseconds: 2)
  private let secret = ZeroingBytes(copying: [9])
  private let token = ZeroingBytes(copying: "token".utf8)

  private func pin(_ text: String = "A1B2C3") throws -> PIN {
    try #require(PIN(ZeroingBytes(copying: text.utf8)))
  }

  private func key(daysAgo: Int, number: UInt8 = 0) -> ReleasedKey {
    let start = (UInt32(now.timeIntervalSince1970 / 86_400) - UInt32(daysAgo)) * 144
    return ReleasedKey(
      bytes: ZeroingBytes(
        copying: [UInt8](repeating: UInt8(daysAgo) * 8 + number, count: 16)),
      rollingStartNumber: start, rollingPeriod: 144)
  }

  private func pending(at begun: Date? = nil) throws -> PendingUpload {
    PendingUpload(
      pin: try pin(), keys: [key(daysAgo: 1)], hmacSecret: secret,
      isInteroperabilityEnabled: true, at: begun ?? now)
  }

  private func newFlow(_ pending: PendingUpload? = nil) -> UploadFlow {
    UploadFlow(record: UploadRecord(pending: pending), isInteroperabilityEnabled: true)
  }

  @Test("The steps are keys, attestation, token and upload; the PIN is used only for the token")
  func straight() throws {
    var flow = newFlow()
    let pending = try pending()
    #expect(flow.receivedPIN(try pin(), at: now) == .requestKeys)
    let step = flow.receivedKeys([key(daysAgo: 1)], hmacSecret: secret, at: now)
    #expect(step == .requestAttestation(pending))
    let attested = pending.attested(by: attestation)
    #expect(flow.receivedAttestation(attestation) == .requestToken(attested))
    let granted = attested.granted(token, at: now)
    #expect(flow.receivedToken(token, at: now) == .send(granted))
    #expect(flow.state == .sending(granted))
    #expect(flow.receivedAcceptance() == .end(.success, keepsPending: false))
    #expect(flow.state == .ended)
  }

  @Test("A refused consent or unsuitable keys end the upload before the PIN is used")
  func beforeThePIN() throws {
    var flow = newFlow()
    _ = flow.receivedPIN(try pin(), at: now)
    #expect(
      flow.failed(.notAgreed)
        == .end(UploadOutcome(result: .accessDenied, reason: .notAgreed), keepsPending: false))
    let bad: [([ReleasedKey], UploadFailure)] = [
      ([], .nothingToShare), ([key(daysAgo: 14)], .nothingToShare),
      ((0..<4).map { key(daysAgo: 1, number: $0) }, .tooManyKeysOfOneDay),
      ([key(daysAgo: 1), key(daysAgo: 1)], .keysOutOfOrder),
      ((1...11).flatMap { day in (0..<3).map { key(daysAgo: day, number: $0) } }, .tooManyKeys),
    ]
    for (keys, reason) in bad {
      var flow = newFlow()
      _ = flow.receivedPIN(try pin(), at: now)
      #expect(
        flow.receivedKeys(keys, hmacSecret: secret, at: now)
          == .end(UploadOutcome(result: .canceled, reason: reason), keepsPending: false))
    }
  }

  @Test("A failed attestation ends a new upload and keeps an earlier one")
  func noAttestation() throws {
    var new = newFlow()
    _ = new.receivedPIN(try pin(), at: now)
    _ = new.receivedKeys([key(daysAgo: 1)], hmacSecret: secret, at: now)
    #expect(new.failed(.noDeviceToken) == .end(UploadOutcome(.noDeviceToken), keepsPending: false))
    var old = newFlow(try pending())
    _ = old.receivedPIN(try pin(), at: now)
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
    _ = flow.receivedPIN(try pin(), at: now)
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
    var flow = newFlow(try pending().granted(token, at: now))
    _ = flow.receivedPIN(try pin(), at: now)
    _ = flow.receivedAttestation(attestation)
    #expect(flow.failed(reason) == .end(UploadOutcome(reason), keepsPending: keeps))
  }

  @Test("An upload without a token continues with its own PIN, the same keys and secret")
  func resumesWithPIN() throws {
    let pending = try pending()
    var flow = newFlow(pending.attested(by: attestation))
    #expect(
      flow.receivedPIN(try pin(), at: now)
        == .requestAttestation(pending.attested(by: attestation)))
    #expect(
      flow.receivedAttestation(otherAttestation)
        == .requestToken(pending.attested(by: otherAttestation)))
    var other = newFlow(pending)
    #expect(other.receivedPIN(try pin("Z9Z9Z9"), at: now) == .requestKeys)
  }

  @Test("An upload with a token continues with any PIN")
  func resumesWithToken() throws {
    let granted = try pending().granted(token, at: now)
    var flow = newFlow(granted)
    #expect(flow.receivedPIN(try pin("Z9Z9Z9"), at: now) == .requestAttestation(granted))
    #expect(flow.receivedAttestation(attestation) == .send(granted.attested(by: attestation)))
  }

  @Test("After half an hour a token is requested again with the same PIN and keys, for a day")
  func expiry() throws {
    let (end, day) = (30 * 60.0, TestApp.day)
    let cases: [(age: TimeInterval, text: String, hasToken: Bool?)] = [
      (end - 1, "A1B2C3", true), (end - 1, "Z9Z9Z9", true), (end, "A1B2C3", false),
      (end, "Z9Z9Z9", nil), (day - 1, "A1B2C3", false), (day, "A1B2C3", nil),
      // These were started before the clock was set back.
      (-end, "A1B2C3", false), (-day, "A1B2C3", nil),
    ]
    for (age, text, hasToken) in cases {
      let begun = now.addingTimeInterval(-age)
      let old = try pending(at: begun).granted(token, at: begun)
      var flow = newFlow(old)
      let step = flow.receivedPIN(try pin(text), at: now)
      switch hasToken {
      case true?: #expect(step == .requestAttestation(old), "\(age) \(text)")
      case false?: #expect(step == .requestAttestation(old.withoutToken()), "\(age) \(text)")
      case nil: #expect(step == .requestKeys, "\(age) \(text)")
      }
    }
  }

  @Test("Keys that were released today are used again for any PIN, until midnight UTC")
  func releasedToday() throws {
    let keys = [key(daysAgo: 1)]
    for (hours, isUsed) in [(0.0, true), (11.99, true), (12, false), (-12, true), (-12.1, false)] {
      let released = UploadRecord.Released(keys: keys, date: now)
      var flow = UploadFlow(
        record: UploadRecord(released: released), isInteroperabilityEnabled: true)
      let step = flow.receivedPIN(try pin(), at: now.addingTimeInterval(hours * 3_600))
      #expect(step == (isUsed ? .useKeys(keys) : .requestKeys), "\(hours)")
    }
  }

  @Test("An unexpected event changes nothing")
  func unexpected() throws {
    var flow = newFlow()
    let unexpectedEvent = UploadFlow.Step.end(UploadOutcome(.alreadyRunning), keepsPending: true)
    #expect(flow.receivedAcceptance() == unexpectedEvent)
    #expect(flow.receivedToken(token, at: now) == unexpectedEvent)
    #expect(flow.receivedAttestation(attestation) == unexpectedEvent)
    #expect(flow.receivedKeys([], hmacSecret: secret, at: now) == unexpectedEvent)
    #expect(flow.state == .waitingForPIN)
    _ = flow.receivedPIN(try pin(), at: now)
    #expect(flow.receivedPIN(try pin(), at: now) == unexpectedEvent)
    _ = flow.failed(.notAgreed)
    #expect(flow.failed(.noInternet) == unexpectedEvent)
  }

  @Test("Descriptions and dumps of an upload contain no secret")
  func redacted() throws {
    let pending = try pending().granted(ZeroingBytes(copying: "secret-token".utf8), at: now)
    var text = "\(pending) \(pending.keys) \(String(describing: pending.pin))"
    dump(pending, to: &text)
    dump(pending.keys, to: &text)
    for secret in ["A1B2C3", "secret-token", "CAgICAgICAgICAgICAgICA=="] {
      #expect(!text.contains(secret))
    }
  }

  @Test("The stored form of a record is read back; every shorter or longer form is rejected")
  func stored() throws {
    let record = UploadRecord(
      pending: try pending().granted(token, at: now),
      released: UploadRecord.Released(keys: [key(daysAgo: 1), key(daysAgo: 2)], date: now),
      completed: CompletedUpload(of: try pin(), at: now, randomness: TestRandomness()))
    let bytes = record.stored
    #expect(UploadRecord(stored: bytes) == record)
    #expect(UploadRecord(stored: UploadRecord().stored) == UploadRecord())
    let content = bytes.withUnsafeBytes { Array($0) }
    for count in 0..<content.count {
      #expect(UploadRecord(stored: ZeroingBytes(copying: content[..<count])) == nil)
    }
    #expect(UploadRecord(stored: ZeroingBytes(copying: content + [0])) == nil)
  }

  @Test("HMAC and transaction ID equal those of the server's functions")
  func bindings() throws {
    let keys = (1...13).map { key(daysAgo: $0, number: UInt8($0 % 3)) }
    let secret = ZeroingBytes(copying: [UInt8](repeating: 200, count: 32))
    let pending = PendingUpload(
      pin: try pin(), keys: keys, hmacSecret: secret, isInteroperabilityEnabled: false, at: now)
    let sent = keys.map { key in
      UploadKey(
        key: key.bytes.withUnsafeBytes { Data($0) }.base64EncodedString(),
        rollingPeriod: key.rollingPeriod, rollingStartNumber: key.rollingStartNumber,
        transmissionRisk: 8)
    }
    let code = KeyHMAC.authenticationCode(over: sent, secret: secret)
    #expect(pending.keyHMAC == ZeroingBytes(copying: code))
    #expect(
      pending.transactionID(appPackageName: "app", regions: ["pl"])
        == DeviceVerificationPayload.transactionID(
          appPackageName: "app", keys: sent, regions: ["PL"]))
  }

  @Test("Base64 equals Foundation's for every length")
  func base64() {
    for count in 0..<70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }
      var text = SecretText()
      text.appendBase64(ZeroingBytes(copying: bytes))
      #expect(
        text.bytes() == ZeroingBytes(copying: Data(bytes).base64EncodedString().utf8), "\(count)")
    }
  }
}
