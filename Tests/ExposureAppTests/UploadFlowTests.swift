import Foundation
import KeyServerAPI
import Testing
import VerificationAPI

@testable import ExposureApp

/// Documentation/App.md 5.3 and 5.4: every transition, without a network.
@Suite struct UploadFlowTests {
  private let now = HandClock.noon
  private let word = DeviceVerificationPayload(
    deviceToken: Data([1]), transactionID: "t", timestampMilliseconds: 1)
  private let otherWord = DeviceVerificationPayload(
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

  @Test("PIN, keys, device, token, send, accepted: the PIN is spent last but one")
  func straight() throws {
    var flow = newFlow()
    let pending = try pending()
    #expect(flow.personEntered(try code(), at: now) == .askForKeys)
    let asked = flow.keysCame([key(daysAgo: 1)], hmacSecret: Data([9]), at: now)
    #expect(asked == .askDevice(pending))
    let attested = pending.attested(by: word)
    #expect(flow.deviceAnswered(word) == .requestToken(attested))
    let granted = attested.granted("token", at: now)
    #expect(flow.tokenCame("token", at: now) == .send(granted))
    #expect(flow.state == .sending(granted))
    #expect(flow.serverAccepted() == .end(.success, keepsPending: false))
    #expect(flow.state == .ended)
  }

  @Test("A refusal, or keys that may not be shared, end the upload before anything is spent")
  func beforeThePIN() throws {
    var flow = newFlow()
    _ = flow.personEntered(try code(), at: now)
    #expect(
      flow.failed(.notAgreed)
        == .end(UploadOutcome(result: .accessDenied, reason: .notAgreed), keepsPending: false))
    let bad: [([PendingUpload.Key], UploadReason)] = [
      ([], .nothingToShare), ([key(daysAgo: 14)], .nothingToShare),
      ((0..<4).map { key(daysAgo: 1, number: $0) }, .tooManyKeysOfOneDay),
      ((1...11).flatMap { day in (0..<3).map { key(daysAgo: day, number: $0) } }, .tooManyKeys),
    ]
    for (keys, reason) in bad {
      var flow = newFlow()
      _ = flow.personEntered(try code(), at: now)
      #expect(
        flow.keysCame(keys, hmacSecret: Data([9]), at: now)
          == .end(UploadOutcome(result: .canceled, reason: reason), keepsPending: false))
    }
  }

  @Test("A device without a word ends a new upload and keeps an old one")
  func noWord() throws {
    var new = newFlow()
    _ = new.personEntered(try code(), at: now)
    _ = new.keysCame([key(daysAgo: 1)], hmacSecret: Data([9]), at: now)
    #expect(new.failed(.noDeviceToken) == .end(UploadOutcome(.noDeviceToken), keepsPending: false))
    var old = newFlow(try pending())
    _ = old.personEntered(try code(), at: now)
    #expect(old.failed(.noDeviceToken) == .end(UploadOutcome(.noDeviceToken), keepsPending: true))
  }

  @Test(
    "While the token is asked for, a clear no forgets the upload and everything else keeps it",
    arguments: [
      (UploadReason.pinRefused, false), (.noInternet, true), (.stopped, true),
      (.serverBusy(retryAfterSeconds: 3), true), (.storage(.full), true),
    ])
  func tokenFails(reason: UploadReason, keeps: Bool) throws {
    var flow = newFlow(try pending())
    _ = flow.personEntered(try code(), at: now)
    _ = flow.deviceAnswered(word)
    #expect(flow.failed(reason) == .end(UploadOutcome(reason), keepsPending: keeps))
  }

  @Test(
    "While the keys are sent, a clear no forgets the upload and everything else keeps it",
    arguments: [
      (UploadReason.uploadRefused, false), (.noInternet, true), (.stopped, true),
      (.serverBusy(retryAfterSeconds: nil), true),
    ])
  func sendFails(reason: UploadReason, keeps: Bool) throws {
    var flow = newFlow(try pending().granted("token", at: now))
    _ = flow.personEntered(try code(), at: now)
    _ = flow.deviceAnswered(word)
    #expect(flow.failed(reason) == .end(UploadOutcome(reason), keepsPending: keeps))
  }

  @Test("D14: an upload without its token goes on with its own PIN, the same keys and secret")
  func resumesWithPIN() throws {
    let pending = try pending()
    var flow = newFlow(pending.attested(by: word))
    #expect(flow.personEntered(try code(), at: now) == .askDevice(pending.attested(by: word)))
    #expect(flow.deviceAnswered(otherWord) == .requestToken(pending.attested(by: otherWord)))
    var other = newFlow(pending)
    #expect(other.personEntered(try code("Z9Z9Z9"), at: now) == .askForKeys)
  }

  @Test("D14: an upload with its token goes on with it, whatever PIN is typed")
  func resumesWithToken() throws {
    let granted = try pending().granted("token", at: now)
    var flow = newFlow(granted)
    #expect(flow.personEntered(try code("Z9Z9Z9"), at: now) == .askDevice(granted))
    #expect(flow.deviceAnswered(word) == .send(granted.attested(by: word)))
  }

  @Test("An upload that has expired is not gone on with: half an hour, to the second")
  func expiry() throws {
    let end = RemovalRule.pendingUploadSeconds
    // The last one was begun before the clock was set back.
    for (age, isOver) in [(end - 1, false), (end, true), (end + 1, true), (-end, true)] {
      let old = try pending(at: now.addingTimeInterval(-age))
      var flow = newFlow(old)
      let step = flow.personEntered(try code(), at: now)
      #expect((step == .askForKeys) == isOver)
    }
  }

  @Test("What nobody waits for changes nothing")
  func unexpected() throws {
    var flow = newFlow()
    let misuse = UploadFlow.Step.end(UploadOutcome(.alreadyRunning), keepsPending: true)
    #expect(flow.serverAccepted() == misuse)
    #expect(flow.tokenCame("t", at: now) == misuse)
    #expect(flow.deviceAnswered(word) == misuse)
    #expect(flow.keysCame([], hmacSecret: Data(), at: now) == misuse)
    #expect(flow.state == .waitingForPIN)
    _ = flow.personEntered(try code(), at: now)
    #expect(flow.personEntered(try code(), at: now) == misuse)
    _ = flow.failed(.notAgreed)
    #expect(flow.failed(.noInternet) == misuse)
  }

  @Test("Nothing of an upload is told by description or dump")
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
