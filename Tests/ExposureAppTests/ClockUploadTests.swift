// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

@testable import ExposureApp

@Suite("Uploads of a phone whose clock is or was wrong")
struct ClockUploadTests {
  private static let hour: TimeInterval = 3_600

  private let phones = PhoneClockTests()

  @Test("Keys of days on which the clock was wrong, or that start later, are not uploaded")
  func keys() async throws {
    let (phone, app, time) = try await phones.scene()
    phone.network.script(TestApp.tokenPath, .text(UploadTests.token))
    phone.network.script(TestApp.uploadPath, .text(#"{"result":""}"#))
    // Two days of the phone's calendar on which the clock is wrong, then two on which it is right.
    for ahead in [5 * Self.hour, 0, 0, 0] {
      phone.clock.advance(by: ahead)
      _ = await app.check()
      phones.pass(TestApp.day, phone, time)
      _ = await app.check()
      phone.clock.advance(by: -ahead)
    }
    #expect(await app.check() == .checked(.none))
    for day in 1...4 { phone.addKey(daysAgo: day, number: 1) }
    let future = UInt32(phone.clock.now.timeIntervalSince1970 / 86_400) + 1
    phone.script.update {
      $0.keys.append((data: Data(repeating: 7, count: 16), start: future * 144, period: 144))
    }
    let periods = phone.script.state.keys.map { (start: $0.start, period: $0.period) }
    let preview = await app.uploadPreview(of: periods, diagnosis: .notStated)
    #expect(await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false) == .success)
    let body = try #require(phone.network.requests(for: TestApp.uploadPath).last?.body)
    let sent = try JSONDecoder().decode(UploadRequest.self, from: body).data
    let starts = sent.temporaryExposureKeys.map(\.rollingStartNumber).sorted()
    // The key of the first day began at a right time.
    #expect(starts == [future - 5, future - 3, future - 2].map { $0 * 144 })
    let (withheld, shared) = (preview.filter(\.isWithheld), preview.filter { !$0.isWithheld })
    #expect(shared.map(\.day.number) == starts.map { Int($0 / 144) })
    // The key of the future too.
    #expect(withheld.map { UInt32($0.day.number) } == [future - 4, future])
  }

  @Test("An upload compares the clock itself, and nothing is sent while it is wrong")
  func uploadComparesClock() async throws {
    let (phone, app) = try await UploadTests().readyPhone()
    let time = ManualClock(TestApp.noon)
    phone.network.states { time.now }
    phone.clock.advance(by: 3 * Self.hour)
    for _ in 0..<2 {
      let outcome = await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false)
      #expect(outcome == UploadOutcome(result: .canceled, reason: .clockWrong))
    }
    #expect(phone.script.state.keyRequestCount == 0)
    #expect(phone.network.requests(for: TestApp.tokenPath).allSatisfy { $0.isDecoy })
    phone.clock.advance(by: -3 * Self.hour)
    #expect(await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false) == .success)
  }

  @Test("An unfinished upload continues with the keys that it began with")
  func pendingUpload() async throws {
    let (phone, app) = try await UploadTests().readyPhone()
    phone.addKey(daysAgo: 0)
    phone.network.script(
      TestApp.uploadPath, .fails(.unreachable), .text(#"{"result":""}"#))
    #expect(
      await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false).reason == .noInternet)
    let time = ManualClock(phone.clock.now.addingTimeInterval(2 * Self.hour))
    phone.network.states { time.now }
    // With a token, no decoy is sent: the signed time of issue is the second source.
    var document = try phone.document(version: 2)
    document.issued = time.now.unixSecond
    try phone.serve(document)
    #expect(
      await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false).reason == .clockWrong)
    phone.clock.advance(by: 2 * Self.hour)
    #expect(
      try await phone.launch().upload(pin: "A1B2C3", isInteroperabilityEnabled: false) == .success)
    let counts = try phone.network.requests(for: TestApp.uploadPath).map {
      try JSONDecoder().decode(UploadRequest.self, from: $0.body ?? Data())
        .data.temporaryExposureKeys.count
    }
    #expect(counts == [4, 4])
  }

  @Test(
    "A key server, or a cache before it, whose clock is wrong does not stop uploads",
    arguments: [61 * 60, -61 * 60, 30 * 86_400] as [TimeInterval])
  func oneSource(behind: TimeInterval) async throws {
    let (phone, app) = try await UploadTests().readyPhone()
    let clock = phone.clock
    phone.addKey(daysAgo: 0)
    phone.network.states { clock.now.addingTimeInterval(-behind) }
    for _ in 1...2 { #expect(await app.check() == .failed(.clockWrong)) }
    phone.network.states(at: "verification.test") { clock.now }
    for pin in ["A1B2C3", "D4E5F6"] {
      #expect(
        try await phone.launch().upload(pin: pin, isInteroperabilityEnabled: false) == .success)
      phone.clock.advance(by: TestApp.day)
      try phone.serve(try phone.document(version: phone.network.requests.count))
    }
    let counts = try phone.network.requests(for: TestApp.uploadPath).map {
      try JSONDecoder().decode(UploadRequest.self, from: $0.body ?? Data())
        .data.temporaryExposureKeys.count
    }
    #expect(counts == [4, 4])
    // The signed time of issue is a second source too.
    phone.network.states(at: "verification.test") { nil }
    phone.clock.advance(by: -3 * TestApp.day)
    let outcome = try await phone.launch().upload(pin: "G7H8J9", isInteroperabilityEnabled: false)
    #expect(outcome.reason == .clockWrong)
  }

  @Test("If all keys were made while the clock was wrong, nothing is sent, and the PIN is not used")
  func noKeys() async throws {
    let (phone, app, time) = try await phones.scene()
    phone.clock.advance(by: 2 * Self.hour)
    #expect(await app.check() == .failed(.clockWrong))
    phones.pass(TestApp.day, phone, time)
    #expect(await app.check() == .failed(.clockWrong))
    phone.addKey(daysAgo: 0)
    for _ in 0..<2 {
      let outcome = try await phone.launch().upload(
        pin: "A1B2C3", isInteroperabilityEnabled: false)
      #expect(outcome == UploadOutcome(result: .canceled, reason: .clockWrong))
    }
    // The clock is right again, but the keys are not.
    phone.clock.advance(by: -2 * Self.hour)
    for _ in 0..<2 {
      let outcome = try await phone.launch().upload(
        pin: "A1B2C3", isInteroperabilityEnabled: false)
      #expect(outcome == UploadOutcome(result: .canceled, reason: .keysOfWrongTime))
    }
    #expect(phone.network.requests(for: TestApp.tokenPath).allSatisfy { $0.isDecoy })
  }

  /// The first intervals of the keys of the last upload, as days.
  private func sentDays(_ phone: TestApp) throws -> [UInt32] {
    let body = try #require(
      phone.network.requests(for: TestApp.uploadPath).last { !$0.isDecoy }?.body)
    let sent = try JSONDecoder().decode(UploadRequest.self, from: body).data
    return sent.temporaryExposureKeys.map { $0.rollingStartNumber / 144 }.sorted()
  }

  @Test(
    "A cache that is wrong for two days, or now and then, takes no keys, and causes no detections",
    arguments: [false, true], [1, 2])
  func repairedCache(alternates: Bool, version: Int) async throws {
    let (phone, _) = try await UploadTests().readyPhone()
    if version == 2 { phone.windowRisk = try .example() }
    let clock = phone.clock
    phone.network.states(at: "verification.test") { clock.now }
    for round in 0..<8 {
      let behind: TimeInterval = alternates && round % 2 == 1 ? 0 : 61 * 60
      phone.network.states(at: "keys.test") { clock.now.addingTimeInterval(-behind) }
      // Two of three clocks agree: the phone's is right.
      #expect(try await phone.launch().check() == .checked(.none))
      clock.advance(by: 6 * Self.hour)
    }
    phone.network.states(at: "keys.test") { clock.now }
    for day in 0...2 { phone.addKey(daysAgo: day, number: 1) }
    let app = try phone.launch()
    #expect(await app.check() == .checked(.none))
    #expect(await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false) == .success)
    let today = UInt32(clock.now.unixDay)
    #expect(try sentDays(phone) == Array(today - 5...today))
    #expect(phone.script.state.detections.isEmpty)
  }

  /// The servers at the time at which a wrong clock is set right.
  enum Servers: CaseIterable {
    case busy, keyServerWrong
    /// The key server is wrong, and the verification server states no time.
    case noSecondSource
  }

  @Test(
    "After the clock was set right while the key server is busy or wrong, the keys of its wrong days are withheld",
    arguments: Servers.allCases)
  func setRight(servers: Servers) async throws {
    let (phone, app, time) = try await phones.scene()
    phone.network.script(TestApp.tokenPath, .text(UploadTests.token))
    phone.network.script(TestApp.uploadPath, .text(#"{"result":""}"#))
    phone.clock.advance(by: 5 * Self.hour)
    for _ in 1...3 {
      #expect(await app.check() == .failed(.clockWrong))
      phones.pass(TestApp.day, phone, time)
    }
    phone.clock.advance(by: -5 * Self.hour)
    if servers == .busy {
      phone.network.script(TestApp.deviceConfigurationPath, .response(503))
    } else {
      phone.network.states(at: "keys.test") { time.now.addingTimeInterval(-61 * 60) }
    }
    if servers == .noSecondSource { phone.network.states(at: "verification.test") { nil } }
    for day in 0...4 { phone.addKey(daysAgo: day) }
    let restarted = try phone.launch()
    #expect(await restarted.upload(pin: "A1B2C3", isInteroperabilityEnabled: false) == .success)
    // The clock was right on the first day and before it.
    let first = UInt32(TestApp.noon.unixDay)
    #expect(try sentDays(phone) == [first - 1, first])
    #expect(await restarted.isClockWrong == (servers == .noSecondSource))
  }

  @Test("Without a second source, the clock of a key server neither stops uploads nor takes keys")
  func noSecondSource() async throws {
    let (phone, app) = try await UploadTests().readyPhone()
    let clock = phone.clock
    phone.addKey(daysAgo: 0)
    phone.network.states(at: "keys.test") { clock.now.addingTimeInterval(-61 * 60) }
    for _ in 1...2 { #expect(await app.check() == .failed(.clockWrong)) }
    #expect(await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false) == .success)
    #expect(try sentDays(phone).count == 4)
  }

  @Test("A clock that was set since it was right is wrong without another source")
  func step() async throws {
    let (phone, app, _) = try await phones.scene()
    phone.network.states(at: "verification.test") { nil }
    phone.addKey(daysAgo: 1)
    phone.clock.jump(by: 3 * Self.hour)
    for _ in 1...2 {
      let outcome = await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false)
      #expect(outcome.reason == .clockWrong)
    }
    phone.clock.jump(by: -3 * Self.hour)
    phone.network.script(TestApp.tokenPath, .text(UploadTests.token))
    phone.network.script(TestApp.uploadPath, .text(#"{"result":""}"#))
    #expect(await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false) == .success)
  }

  @Test("A clock that was set since a comparison without a stated time may be right")
  func stepWithoutTime() async throws {
    let (phone, app) = try await UploadTests().readyPhone()
    let clock = phone.clock
    clock.jump(by: 3 * Self.hour)
    phone.network.states(at: "keys.test") { clock.now.addingTimeInterval(-61 * 60) }
    phone.network.states(at: "verification.test") { clock.now }
    #expect(await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false) == .success)
  }

  @Test(
    "Without an answer, each check and upload asks once, but not during a pause or with a token")
  func unansweredDecoys() async throws {
    let (phone, app) = try await UploadTests().readyPhone()
    let clock = phone.clock
    phone.network.states(at: "keys.test") { clock.now.addingTimeInterval(-61 * 60) }
    phone.network.script(TestApp.uploadPath, .fails(.interrupted))
    func count() -> Int { phone.network.requests(for: TestApp.tokenPath).filter(\.isDecoy).count }
    for checks in 1...2 {
      #expect(await app.check() == .failed(.clockWrong))
      #expect(count() == checks)
    }
    for _ in 1...2 {
      let outcome = await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false)
      #expect(outcome.reason == .noInternet)
      #expect(count() == 3)
    }
    var document = try phone.document(version: 2)
    document.pause = DeviceConfiguration.Pause(until: nil)
    try phone.serve(document)
    for _ in 1...2 {
      #expect(await app.check() == .paused)
      #expect(count() == 3)
    }
  }

  @Test("The second source is asked once for a verdict and for each upload that needs a token")
  func decoys() async throws {
    let (phone, app) = try await UploadTests().readyPhone()
    let clock = phone.clock
    phone.network.states(at: "keys.test") { clock.now.addingTimeInterval(-61 * 60) }
    phone.network.states(at: "verification.test") { clock.now }
    phone.network.script(TestApp.uploadPath, .fails(.interrupted), .text(#"{"result":""}"#))
    func count() -> Int { phone.network.requests(for: TestApp.tokenPath).filter(\.isDecoy).count }
    for _ in 1...2 { #expect(await app.check() == .checked(.none)) }
    #expect(count() == 1)
    for (reason, decoys) in [(UploadFailure.noInternet, 2), (nil, 2)] {
      let outcome = await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false)
      #expect(outcome.reason == reason)
      #expect(count() == decoys)
    }
  }

  @Test("If the certificates of the servers are out of date by the clock, the upload says so")
  func certificateOutOfDate() async throws {
    let (phone, app) = try await UploadTests().readyPhone()
    phone.network.script(TestApp.deviceConfigurationPath, .fails(.certificateOutOfDate))
    phone.network.script(TestApp.tokenPath, .fails(.certificateOutOfDate))
    for _ in 1...2 {
      let outcome = await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false)
      #expect(outcome == UploadOutcome(result: .canceled, reason: .clockWrong))
    }
    phone.network.script(TestApp.tokenPath, .text(UploadTests.token))
    #expect(await app.upload(pin: "A1B2C3", isInteroperabilityEnabled: false) == .success)
  }
}
