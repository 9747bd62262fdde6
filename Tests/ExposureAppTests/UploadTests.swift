import CallableEnvelope
import ExposureNotification
import Foundation
import KeyServerAPI
import Testing
import VerificationAPI

@testable import ExposureApp

/// Documentation/App.md 5.
@Suite struct UploadTests {
  private static let token = #"{"result":{"accessToken":"eyJ.t.s"},"padding":"xx"}"#

  private func readyPhone() async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    for day in 1...3 { phone.addKey(daysAgo: day) }
    phone.network.script(TestApp.tokenPath, .text(Self.token))
    phone.network.script(TestApp.uploadPath, .text(#"{"result":""}"#))
    return (phone, app)
  }

  private func upload(_ app: ExposureApp, _ pin: String = "a1b 2c3") async -> UploadOutcome {
    await app.upload(pin: pin, isInteroperabilityEnabled: true)
  }

  private func uploads(_ phone: TestApp) throws -> [UploadRequest] {
    try phone.network.requests(for: TestApp.uploadPath).map {
      try JSONDecoder().decode(UploadRequest.self, from: $0.body ?? Data())
    }
  }

  private func tokenRequests(_ phone: TestApp) throws -> [AccessTokenRequest] {
    try phone.network.requests(for: TestApp.tokenPath).map {
      try JSONDecoder().decode(
        CallableRequest<AccessTokenRequest>.self, from: $0.body ?? Data()
      ).data
    }
  }

  @Test("An upload says what the contract asks, bound to its keys, in requests of one length")
  func contract() async throws {
    let (phone, app) = try await readyPhone()
    #expect(await upload(app) == .success)
    #expect(await !app.hasPendingUpload)
    let request = try #require(try uploads(phone).first)
    let data = request.data
    #expect(request.isInteroperabilityEnabled == true)
    #expect(data.regions == ["PL"])
    #expect(data.platform == "ios")
    #expect(data.appPackageName == "pl.gov.mc.protegosafe")
    #expect(data.verificationPayload == "eyJ.t.s")
    #expect(data.temporaryExposureKeys.count == 3)
    #expect(data.temporaryExposureKeys.allSatisfy { $0.transmissionRisk == 8 })
    let asked = try #require(try tokenRequests(phone).first)
    #expect(asked.code == "A1B2C3")
    let secret = try #require(data.hmackey.flatMap { Data(base64Encoded: $0) })
    let code = try #require(asked.ekeyhmac.flatMap { Data(base64Encoded: $0) })
    #expect(KeyHMAC.isValid(code, over: data.temporaryExposureKeys, secret: secret))
    let word = try #require(
      data.deviceVerificationPayload.flatMap { DeviceVerificationPayload(base64: $0) })
    #expect(
      word.transactionID
        == DeviceVerificationPayload.transactionID(
          appPackageName: "pl.gov.mc.protegosafe", keys: data.temporaryExposureKeys,
          regions: ["PL"]))
    #expect(
      word.timestampMilliseconds == Int64(phone.clock.now.timeIntervalSince1970) * 1_000)
    let lengths = phone.network.requests.compactMap { $0.body?.count }
    #expect(lengths == [RequestPadding.tokenRequestBytes, RequestPadding.uploadBytes])
  }

  @Test("Thirty keys and a long word of the device still fit the one length")
  func largest() throws {
    let requests = UploadRequests(
      configuration: try TestApp().configuration(), randomness: SeededRandomness())
    let keys = (0..<30).map {
      PendingUpload.Key(
        data: Data(repeating: UInt8($0), count: 16), rollingPeriod: 144,
        rollingStartNumber: .max, transmissionRisk: 8)
    }
    let code = try #require(VerificationCode("A1B2C3"))
    let pending = PendingUpload(
      code: code, keys: keys, hmacSecret: Data(count: 32), isInteroperabilityEnabled: true,
      at: HandClock.noon
    ).attested(
      by: DeviceVerificationPayload(
        deviceToken: Data(count: 4_096), transactionID: String(repeating: "a", count: 64),
        timestampMilliseconds: .max)
    ).granted(String(repeating: "x", count: 4_096), at: HandClock.noon)
    #expect(try requests.upload(pending).body?.count == RequestPadding.uploadBytes)
    #expect(RequestPadding.uploadBytes <= UploadLimit.bodyBytesMax)
  }

  @Test("Consent and validation come before the PIN is spent")
  func consentFirst() async throws {
    let (phone, app) = try await readyPhone()
    phone.script.update { $0.keysError = .notAuthorized }
    #expect(await upload(app) == UploadOutcome(result: .accessDenied, reason: .notAgreed))
    phone.script.update { $0.keysError = .notEnabled }
    #expect(await upload(app).reason == .notEnabled)
    phone.script.update {
      $0.keysError = nil
      $0.keys = []
    }
    #expect(await upload(app) == UploadOutcome(result: .canceled, reason: .nothingToShare))
    phone.addKey(daysAgo: 1)
    phone.device.fallSilent()
    #expect(await upload(app).reason == .noDeviceToken)
    #expect(try tokenRequests(phone).isEmpty)
  }

  @Test("What is no PIN is refused before anybody is asked")
  func shape() async throws {
    let (phone, app) = try await readyPhone()
    for text in ["", "A1B2C", "A1B2C34", "ABCDEF", "123456", "A1B2Ć3"] {
      #expect(await upload(app, text).reason == .notAPIN)
    }
    #expect(phone.script.state.timesKeysWereAsked == 0)
  }

  @Test("Keys of fourteen days ago are left out, those of thirteen are not")
  func age() async throws {
    let (phone, app) = try await readyPhone()
    phone.script.update { $0.keys = [] }
    for day in [12, 13, 14, 15] { phone.addKey(daysAgo: day) }
    #expect(await upload(app) == .success)
    #expect(try uploads(phone).first?.data.temporaryExposureKeys.count == 2)
  }

  @Test("D14: when the token's answer is lost, the same PIN asks for the same token again")
  func lostToken() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(TestApp.tokenPath, .fails(.interrupted), .text(Self.token))
    #expect(await upload(app) == UploadOutcome(result: .noInternet, reason: .noInternet))
    #expect(await app.hasPendingUpload)
    let restarted = try phone.launch()
    #expect(await upload(restarted) == .success)
    let asked = try tokenRequests(phone)
    #expect(asked.count == 2)
    #expect(asked[0] == asked[1])
    #expect(phone.script.state.timesKeysWereAsked == 1)
  }

  @Test("D14: when the upload's answer is lost, the same keys go out under the same token")
  func lostUpload() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(
      TestApp.uploadPath, .fails(.timedOut), .answer(503, retryAfter: 30), .text(#"{"result":""}"#))
    #expect(await upload(app).result == .noInternet)
    let restarted = try phone.launch()
    #expect(await upload(restarted).reason == .serverBusy(retryAfterSeconds: 30))
    #expect(await upload(restarted) == .success)
    let sent = try uploads(phone).map(\.data)
    #expect(sent.count == 3)
    #expect(Set(sent.map(\.temporaryExposureKeys)).count == 1)
    #expect(Set(sent.map(\.verificationPayload)).count == 1)
    #expect(Set(sent.map(\.hmackey)).count == 1)
    #expect(Set(sent.map(\.deviceVerificationPayload)).count == 3)
    #expect(try tokenRequests(phone).count == 1)
    #expect(await !restarted.hasPendingUpload)
  }

  @Test("A stopped upload is canceled, and goes on where it stopped")
  func stopped() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(TestApp.uploadPath, .hangs, .text(#"{"result":""}"#))
    let work = Task { await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: true) }
    while phone.network.requests(for: TestApp.uploadPath).isEmpty { await Task.yield() }
    #expect(await upload(app).reason == .alreadyRunning)
    work.cancel()
    #expect(await work.value == UploadOutcome(result: .canceled, reason: .stopped))
    #expect(await upload(app) == .success)
    #expect(try tokenRequests(phone).count == 1)
  }

  @Test("A refused PIN and a refused token end as failures and leave nothing behind")
  func refused() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(TestApp.tokenPath, .answer(404))
    #expect(await upload(app) == UploadOutcome(result: .failure, reason: .pinRefused))
    phone.network.script(TestApp.tokenPath, .text(Self.token))
    phone.network.script(TestApp.uploadPath, .answer(401))
    #expect(await upload(app) == UploadOutcome(result: .failure, reason: .uploadRefused))
    #expect(await !app.hasPendingUpload)
    #expect(await app.store.state.refusedPINs.count == 1)
  }

  @Test("A busy server keeps the upload and tells when to come back")
  func busy() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(TestApp.tokenPath, .answer(429, retryAfter: 60), .text(Self.token))
    let outcome = await upload(app)
    #expect(
      outcome == UploadOutcome(result: .failure, reason: .serverBusy(retryAfterSeconds: 60)))
    #expect(await app.store.state.refusedPINs.isEmpty)
    #expect(await upload(app) == .success)
  }

  @Test("Half an hour later the person is asked again")
  func expired() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(TestApp.uploadPath, .fails(.unreachable), .text(#"{"result":""}"#))
    _ = await upload(app)
    phone.clock.move(by: RemovalRule.pendingUploadSeconds)
    #expect(await !app.hasPendingUpload)
    #expect(await upload(app) == .success)
    #expect(phone.script.state.timesKeysWereAsked == 2)
    #expect(try tokenRequests(phone).count == 2)
  }
}
