// SPDX-License-Identifier: Apache-2.0
import CallableEnvelope
import ExposureNotification
import Foundation
import KeyServerAPI
import Secrets
import TestSupport
import Testing
import VerificationAPI

@testable import ExposureApp

@Suite("Upload") struct UploadTests {
  static let wrongPIN = ScriptedNetwork.Reply.response(
    404, Data(#"{"error":{"message":"Invalid code","status":"NOT_FOUND"},"padding":"x"}"#.utf8))
  private static let refusedToken = ScriptedNetwork.Reply.response(
    401, Data(#"{"error":{"message":"","status":"UNAUTHENTICATED"}}"#.utf8))
  static let token = #"{"result":{"accessToken":"eyJ.t.s"},"padding":"xx"}"#

  func readyPhone() async throws -> (TestApp, ExposureApp) {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    for day in 1...3 { phone.addKey(daysAgo: day) }
    phone.network.script(TestApp.tokenPath, .text(Self.token))
    phone.network.script(TestApp.uploadPath, .text(#"{"result":""}"#))
    return (phone, app)
  }

  func upload(_ app: ExposureApp, _ pin: String = "a1b 2c3") async -> UploadOutcome {
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

  @Test("An upload has the contract's fields, is bound to its keys and has a fixed length")
  func contract() async throws {
    let (phone, _) = try await readyPhone()
    phone.otherRegions = ["DE", "CZ"]
    let app = try phone.launch()
    #expect(await upload(app) == .success)
    #expect(await !app.hasPendingUpload)
    let request = try #require(try uploads(phone).first)
    let data = request.data
    #expect(request.isInteroperabilityEnabled == true)
    #expect(data.regions == ["PL", "DE", "CZ"])
    #expect(data.platform == "ios")
    #expect(data.appPackageName == "pl.gov.mc.protegosafe")
    #expect(data.verificationPayload == "eyJ.t.s")
    #expect(data.temporaryExposureKeys.count == 3)
    #expect(data.temporaryExposureKeys.allSatisfy { $0.transmissionRisk == 8 })
    let tokenRequest = try #require(try tokenRequests(phone).first)
    #expect(tokenRequest.code == "A1B2C3")
    let secret = try #require(data.hmackey.flatMap { Data(base64Encoded: $0) })
    let code = try #require(tokenRequest.ekeyhmac.flatMap { Data(base64Encoded: $0) })
    #expect(KeyHMAC.isValid(code, over: data.temporaryExposureKeys, secret: secret))
    let attestation = try #require(
      data.deviceVerificationPayload.flatMap { DeviceVerificationPayload(base64: $0) })
    #expect(
      attestation.transactionID
        == DeviceVerificationPayload.transactionID(
          appPackageName: "pl.gov.mc.protegosafe", keys: data.temporaryExposureKeys,
          regions: ["CZ", "PL", "DE"]))
    #expect(
      attestation.timestampMilliseconds == Int64(phone.clock.now.timeIntervalSince1970) * 1_000)
    let lengths = phone.network.requests.compactMap { $0.body?.count }
    #expect(lengths == [RequestPadding.tokenRequestBytes, RequestPadding.uploadBytes])
  }

  @Test("Thirty keys and a long attestation fit the fixed length")
  func largest() throws {
    let requests = UploadRequests(
      configuration: try TestApp().configuration(), randomness: TestRandomness())
    let keys = (0..<30).map {
      ReleasedKey(
        bytes: ZeroingBytes(copying: [UInt8](repeating: UInt8($0), count: 16)),
        rollingStartNumber: .max, rollingPeriod: 144)
    }
    let pin = try #require(PIN(ZeroingBytes(copying: "A1B2C3".utf8)))
    let pending = PendingUpload(
      pin: pin, keys: keys, hmacSecret: ZeroingBytes(count: 32) { _ in },
      isInteroperabilityEnabled: true, at: TestApp.noon
    ).attested(
      by: DeviceVerificationPayload(
        deviceToken: Data(count: 4_096), transactionID: String(repeating: "a", count: 64),
        timestampMilliseconds: .max)
    ).granted(
      ZeroingBytes(copying: [UInt8](repeating: UInt8(ascii: "x"), count: 4_096)), at: TestApp.noon)
    #expect(requests.upload(pending).body?.count == RequestPadding.uploadBytes)
    #expect(RequestPadding.uploadBytes <= UploadLimit.bodyBytesMax)
  }

  @Test("Consent and validation happen before the PIN is used")
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
    phone.device.disable()
    #expect(await upload(app).reason == .noDeviceToken)
    #expect(try tokenRequests(phone).isEmpty)
  }

  @Test("Text that is not a PIN is rejected without asking for keys")
  func shape() async throws {
    let (phone, app) = try await readyPhone()
    for text in ["", "A1B2C", "A1B2C3D4E5F", "ABCDEF", "12345", "A1B2Ć3"] {
      #expect(await upload(app, text).reason == .invalidPIN)
    }
    #expect(phone.script.state.keyRequestCount == 0)
  }

  @Test("Keys that are fourteen days old are not uploaded, keys of thirteen days are")
  func age() async throws {
    let (phone, app) = try await readyPhone()
    phone.script.update { $0.keys = [] }
    for day in [12, 13, 14, 15] { phone.addKey(daysAgo: day) }
    #expect(await upload(app) == .success)
    #expect(try uploads(phone).first?.data.temporaryExposureKeys.count == 2)
  }

  @Test("After a lost token response, the same PIN repeats the same token request")
  func lostToken() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(TestApp.tokenPath, .fails(.interrupted), .text(Self.token))
    #expect(await upload(app) == UploadOutcome(result: .noInternet, reason: .noInternet))
    #expect(await app.hasPendingUpload)
    let restarted = try phone.launch()
    #expect(await upload(restarted) == .success)
    let requests = try tokenRequests(phone)
    #expect(requests.count == 2)
    #expect(requests[0] == requests[1])
    #expect(phone.script.state.keyRequestCount == 1)
  }

  @Test("After a lost upload response, the same keys and token are sent again")
  func lostUpload() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(
      TestApp.uploadPath, .fails(.timedOut), .response(503, retryAfter: 30),
      .text(#"{"result":""}"#))
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

  @Test("A cancelled upload ends as canceled and continues with the next call")
  func stopped() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(TestApp.uploadPath, .hangs, .text(#"{"result":""}"#))
    let work = Task { await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: true) }
    await Patience.yielding { !phone.network.requests(for: TestApp.uploadPath).isEmpty }
    #expect(await upload(app).reason == .alreadyRunning)
    work.cancel()
    #expect(await work.value == UploadOutcome(result: .canceled, reason: .stopped))
    #expect(await upload(app) == .success)
    #expect(try tokenRequests(phone).count == 1)
  }

  @Test("A refused PIN and a refused token end as failures and leave no pending upload")
  func refused() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(TestApp.tokenPath, Self.wrongPIN)
    #expect(await upload(app) == UploadOutcome(result: .failure, reason: .pinRefused))
    phone.network.script(TestApp.tokenPath, .text(Self.token))
    phone.network.script(TestApp.uploadPath, Self.refusedToken)
    #expect(await upload(app) == UploadOutcome(result: .failure, reason: .uploadRefused))
    #expect(await !app.hasPendingUpload)
    #expect(await app.store.state.refusedPINs.count == 1)
  }

  @Test(
    "The token is read from the result alone, and a response that is not complete JSON has none")
  func tokenResponse() throws {
    func token(_ body: String) throws -> Data {
      try UploadResponses.token(in: NetworkResponse(status: 200, body: Data(body.utf8))).data
    }
    let others = #""padding":"x","details":{"accessToken":"evil"}"#
    for body in [
      #"{\#(others),"result":{"accessToken":"a.b-c_d"}}"#,
      #" { "result" : { "more" : [1, {}] , "accessToken" : "a.b-c_d" } , \#(others) } "#,
    ] {
      #expect(try token(body) == Data("a.b-c_d".utf8))
    }
    for body in [
      #"{\#(others)}"#, #"{\#(others),"result":{}}"#, #"{"accessToken":"a"}"#,
      #"{"result":{"accessToken":"a"}"#, #"{"result":{"accessToken":"a"}} x"#,
      #"{"result":{"accessToken":"a","accessToken":"b"}}"#, #"{"result":{"accessToken":""}}"#,
      #"{"result":{"accessToken":"a\u0062"}}"#, #"{"result":{"accessToken":null}}"#, "",
    ] {
      #expect(throws: UploadFailure.serverBusy(retryAfterSeconds: nil)) { try token(body) }
    }
  }

  @Test("A busy server keeps the upload and its Retry-After is returned")
  func busy() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(TestApp.tokenPath, .response(429, retryAfter: 60), .text(Self.token))
    let outcome = await upload(app)
    #expect(
      outcome == UploadOutcome(result: .failure, reason: .serverBusy(retryAfterSeconds: 60)))
    #expect(await app.store.state.refusedPINs.isEmpty)
    #expect(await upload(app) == .success)
  }

  @Test(
    "After half an hour the same PIN requests a token for the same keys; after a day the user is asked"
  )
  func expired() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(TestApp.uploadPath, .fails(.unreachable), .text(#"{"result":""}"#))
    _ = await upload(app)
    phone.clock.advance(by: 30 * 60)
    #expect(await !app.hasPendingUpload)
    #expect(await upload(app) == .success)
    #expect(phone.script.state.keyRequestCount == 1)
    let requests = try tokenRequests(phone)
    #expect(requests.count == 2 && requests[0] == requests[1])
    phone.clock.advance(by: TestApp.day)
    #expect(await upload(app, "Z9Z9Z9") == .success)
    #expect(phone.script.state.keyRequestCount == 2)
  }

  @Test("Seventeen wrong PINs release the keys once, and the right PIN succeeds afterwards")
  func wrongPINs() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(TestApp.tokenPath, Self.wrongPIN)
    for number in 10..<27 {
      #expect(await upload(app, "A1B2\(number)").reason == .pinRefused)
      phone.clock.advance(by: 150)
    }
    #expect(phone.script.state.keyRequestCount == 1)
    phone.network.script(TestApp.tokenPath, .text(Self.token))
    phone.clock.advance(by: 3_600)
    let restarted = try phone.launch()
    #expect(await upload(restarted, "Z9Z9Z9") == .success)
    #expect(phone.script.state.keyRequestCount == 1)
    #expect(try uploads(phone).first?.data.temporaryExposureKeys.count == 3)
  }

  @Test("A PIN that was used by a complete upload succeeds again after a kill, without a request")
  func killedAfterSuccess() async throws {
    let (phone, app) = try await readyPhone()
    #expect(await upload(app) == .success)
    let count = phone.network.requests.count
    phone.network.script(TestApp.tokenPath, Self.wrongPIN)
    phone.clock.advance(by: 3_600)
    let restarted = try phone.launch()
    #expect(await upload(restarted) == .success)
    #expect(phone.network.requests.count == count)
    #expect(await upload(restarted, "Z9Z9Z9").reason == .pinRefused)
    phone.clock.advance(by: 14 * TestApp.day - 3_601)
    #expect(await upload(restarted).reason == .pinUsed)
    phone.clock.advance(by: 3_601)
    phone.addKey(daysAgo: 1)
    #expect(await upload(restarted).reason == .pinRefused)
  }

  @Test("A kill between the server's response and the end of the upload ends as a success")
  func killedBeforeEnd() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(TestApp.uploadPath, .hangs, .text(#"{"result":""}"#))
    let work = Task { await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: true) }
    await Patience.yielding { !phone.network.requests(for: TestApp.uploadPath).isEmpty }
    // The state on the disk is that of an app that was killed here.
    let restarted = try phone.launch()
    #expect(await restarted.hasPendingUpload)
    #expect(await upload(restarted) == .success)
    let sent = try uploads(phone).map(\.data)
    #expect(sent.count == 2)
    #expect(sent[0].temporaryExposureKeys == sent[1].temporaryExposureKeys)
    #expect(sent[0].verificationPayload == sent[1].verificationPayload)
    work.cancel()
    _ = await work.value
  }

  @Test(
    "An error of the framework has its own reason",
    arguments: [
      (ENError.Code.insufficientStorage, UploadFailure.storage(.full)),
      (.dataInaccessible, .keysUnreadable), (.notEnabled, .notEnabled), (.internal, .systemFailed),
    ])
  func keyErrors(code: ENError.Code, reason: UploadFailure) async throws {
    let (phone, app) = try await readyPhone()
    phone.script.update { $0.keysError = code }
    #expect(await upload(app).reason == reason)
  }

  @Test("A framework that does not respond ends the upload at the deadline")
  func silentFramework() async throws {
    let (phone, app) = try await readyPhone()
    phone.script.update { $0.isSilent = true }
    async let outcome = upload(app)
    await Patience.yielding { phone.clock.sleeperCount > 0 }
    phone.clock.advance(by: FrameworkLimit.callSeconds)
    #expect(await outcome.reason == .systemFailed)
    #expect(try tokenRequests(phone).isEmpty)
  }

  @Test("A damaged upload record is set aside and reported; the PIN can be entered again")
  func damagedRecord() async throws {
    let (phone, app) = try await readyPhone()
    phone.network.script(TestApp.uploadPath, .fails(.timedOut), .text(#"{"result":""}"#))
    _ = await upload(app)
    try phone.damage("upload.sealed")
    let restarted = try phone.launch()
    await restarted.start()
    #expect(await restarted.storageDamage.map(\.content) == [.upload])
    #expect(phone.notices.shown.map(\.identifier) == [.storageDamaged])
    #expect(await upload(restarted) == .success)
  }
}

@Suite("PIN lock") struct PINLockTests {
  private let now = TestApp.noon

  /// Refusals at equal distances; the last one is now.
  private func refused(_ count: Int, over seconds: Double) -> [Date] {
    (0..<count).map {
      now.addingTimeInterval(-seconds * Double($0) / Double(max(count - 1, 1)))
    }
  }

  @Test("Each limit locks at its count within its period, for exactly its duration")
  func rows() {
    for (row, isOnlyRow) in zip(PINLock.table, [true, true, true, true]) {
      let within = refused(row.tries, over: row.withinSeconds)
      let end = now.addingTimeInterval(row.lockSeconds)
      #expect(PINLock.lockedUntil(refused: within, at: now) == end, "\(row.message)")
      #expect(PINLock.lockedUntil(refused: within, at: end) == nil)
      let before = end.addingTimeInterval(-1)
      #expect((PINLock.lockedUntil(refused: within, at: before) == end) == isOnlyRow)
      let fewer = refused(row.tries - 1, over: row.withinSeconds)
      #expect(PINLock.lockedUntil(refused: fewer, at: now) != end)
      let slower = refused(row.tries, over: row.withinSeconds + 1)
      #expect(PINLock.lockedUntil(refused: slower, at: now) != end)
    }
  }

  @Test("Refusals in the future, after the clock was set back, do not lock the entry")
  func clockSetBack() {
    let year = TestApp.day * 365
    let refusals = refused(30, over: 60)
    #expect(PINLock.lockedUntil(refused: refusals, at: now) != nil)
    #expect(PINLock.lockedUntil(refused: refusals, at: now.addingTimeInterval(-year)) == nil)
  }

  @Test("The app locks after three wrong PINs and accepts a PIN when the lock ends")
  func inTheApp() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.addKey(daysAgo: 1)
    phone.network.script(TestApp.tokenPath, UploadTests.wrongPIN)
    for _ in 0..<3 {
      let outcome = await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false)
      #expect(outcome.reason == .pinRefused)
    }
    let count = phone.network.requests(for: TestApp.tokenPath).count
    let end = phone.clock.now.addingTimeInterval(60)
    let locked = await app.upload(pin: "A1B2C4", isInteroperabilityEnabled: false)
    #expect(locked == UploadOutcome(result: .canceled, reason: .locked(until: end)))
    let restarted = try phone.launch()
    #expect(
      await restarted.upload(pin: "A1B2C4", isInteroperabilityEnabled: false).reason
        == .locked(until: end))
    #expect(phone.network.requests(for: TestApp.tokenPath).count == count)
    phone.clock.advance(by: 60)
    #expect(
      await app.upload(pin: "A1B2C4", isInteroperabilityEnabled: false).reason == .pinRefused)
  }
}
