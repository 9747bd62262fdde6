// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import Logging
import SealedStorage
import TestSupport
import Testing
import World

@testable import ExposureApp
@testable import PhoneProcess

@Suite("The phone's state and actions for a user interface")
struct PhoneUserInterfaceTests {
  /// A network without any server.
  private struct NoNetwork: Network {
    let connection = NetworkConnection.wifi

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      throw NetworkFailure.unreachable
    }

    func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
      throw NetworkFailure.unreachable
    }
  }

  private let temporary: TemporaryFolder
  private let folder: PhoneFolder
  private let key = SealingKey(from: SystemRandomness())
  private let clock = ManualClock(Date(timeIntervalSince1970: 1_600_000_000))
  private let root = RootPrivateKey()

  init() throws {
    temporary = try TemporaryFolder()
    folder = try PhoneFolder(creating: temporary.path("phone").path)
  }

  /// The phone, opened again with each call.
  private func phone() async throws -> Phone {
    let verification = try #require(URL(string: "http://127.0.0.1:9"))
    let keys = try #require(URL(string: "http://127.0.0.1:10"))
    let phone = Phone(
      in: folder, key: key,
      settings: PhoneSettings(
        app: AppConfiguration(
          verificationServer: verification, keyServer: keys,
          appPackageName: "pl.gov.mc.protegosafe", rootKey: root.rootKey)),
      surroundings: Phone.Surroundings(
        clock: clock, randomness: SystemRandomness(), network: NoNetwork(),
        radio: NoRadio(isPoweredOn: true), desktop: nil, version: "1.2.3", language: .polish,
        zone: .gmt, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })))
    await phone.start()
    return phone
  }

  /// The JSON of the result of an operation that is done.
  private func json(_ operation: PhoneOperation, of phone: Phone) async throws -> [String: Any] {
    let facts = try await phone.facts(operation)
    #expect(facts.status == .done, "\(operation)")
    return facts.json
  }

  @Test("The state of a new phone has all promised fields, absent ones as null")
  func fields() async throws {
    let state = try await json(.status, of: phone())
    #expect(
      Set(state.keys) == [
        "onboarding", "enabled", "authorized", "bluetooth", "supported", "riskLevel", "exposures",
        "lastCheck", "lastFailure", "nextCheck", "checking", "paused", "configurationRefused",
        "storage", "damaged", "pendingUpload", "upload", "lastUpload", "language", "hidesDetails",
        "notifications", "statisticsNews", "developer", "region", "lastCheckKeys", "notices",
        "shownNotices", "version", "now", "radio", "droppedBeacons", "advice", "positiveTest",
        "languageChosen", "clockWrong", "followingDays", "permissionUnreadable", "service",
      ])
    let absent = [
      "lastCheck", "lastFailure", "nextCheck", "configurationRefused", "upload", "lastUpload",
      // Before the first check nothing is known.
      "riskLevel",
    ]
    for name in absent {
      #expect(state[name] is NSNull, "\(name)")
    }
    #expect(state["onboarding"] as? String == "new" && state["language"] as? String == "pl")
    #expect(state["version"] as? String == "1.2.3" && state["now"] as? Int == 1_600_000_000)
    #expect(state["enabled"] as? Bool == false && state["region"] as? String == "PL")
  }

  @Test("The onboarding: decline, consent, finish; each survives a restart")
  func onboarding() async throws {
    let first = try await phone()
    _ = try await json(.onboard(.decline), of: first)
    #expect(await first.state().onboarding == .declined)
    let second = try await phone()
    #expect(await second.state().onboarding == .declined)
    _ = try await json(.onboard(.consent), of: second)
    let state = await second.state()
    #expect(state.onboarding == .consented && state.enabled && state.authorized)
    _ = try await json(.onboard(.finish), of: second)
    #expect(try await phone().state().onboarding == .finished)
    _ = await second.perform(PhoneRequest(.remove(.everything)))
    #expect(await second.state().onboarding == .new)
  }

  @Test("A failed check and its requests are in the state, in the messages and in the export")
  func failedCheck() async throws {
    let phone = try await phone()
    _ = try await json(.onboard(.consent), of: phone)
    _ = await phone.perform(PhoneRequest(.check))
    #expect(await phone.state().lastFailure == "noConnection")
    let messages = try await json(.traffic, of: phone)
    let rows = try #require(messages["messages"] as? [[String: Any]])
    #expect(rows.first?["kind"] as? String == "deviceConfiguration")
    #expect(rows.first?["host"] as? String == "127.0.0.1:10")
    #expect(rows.first?["status"] is NSNull && rows.first?["failure"] as? String == "unreachable")
    let export = await phone.perform(PhoneRequest(.exportMyData))
    let all = try #require(
      try JSONSerialization.jsonObject(with: Data((export.json ?? "").utf8)) as? [String: Any])
    let sent = try #require(all["sent"] as? [String: Any])
    #expect((sent["messages"] as? [Any])?.count == rows.count && all["preferences"] != nil)
    _ = await phone.perform(PhoneRequest(.remove(.everything)))
    #expect((try await json(.traffic, of: phone)["messages"] as? [Any])?.isEmpty == true)
  }

  @Test("Preferences change one at a time and are in the state")
  func preferences() async throws {
    let phone = try await phone()
    for choice in [
      PhoneChoice(language: .german), PhoneChoice(hidesDetails: true),
      PhoneChoice(notifications: false),
    ] {
      _ = try await json(.choose(choice), of: phone)
    }
    for state in [await phone.state(), try await self.phone().state()] {
      #expect(state.language == .german && state.hidesDetails && !state.notifications)
    }
  }

  @Test("A notice is in the rows with its ID and is removed by it")
  func rows() async throws {
    let phone = try await phone()
    await phone.notices.show(Notice(.bluetoothOff))
    let row = try #require(await phone.history().notices.first)
    #expect(await phone.state().shownNotices == [row])
    let rows = PhoneOperation.Rows(
      notices: ["no ID", row.id], checks: ["no ID"], exposures: [row.id])
    _ = try await json(.removeRows(rows), of: phone)
    #expect(await phone.history().notices.isEmpty)
    #expect(await phone.state().shownNotices == [row])
  }

  @Test("The preview of an upload lists the days of the keys without a request for consent")
  func preview() async throws {
    let phone = try await phone()
    _ = try await json(.onboard(.consent), of: phone)
    let radio = Task { try? await phone.device.run() }
    defer { radio.cancel() }
    try await Patience.until { try await phone.device.storedDataCounts().ownKeys == 1 }
    #expect(try await phone.uploadPreview(.notStated, pin: nil).keys.isEmpty)
    clock.advance(by: 86_400)
    let preview = try await phone.uploadPreview(.notStated, pin: nil)
    #expect(preview.keys.map(\.day) == ["2020-09-13"])
    #expect(preview.keys.first?.transmissionRisk == 8)
    #expect(preview.receiver == "127.0.0.1:10" && preview.region == "PL")
    #expect(try await phone.uploadPreview(.notStated, pin: nil) == preview)
    #expect(await phone.perform(PhoneRequest(.unfinishedUpload(.continue))).status == .badInput)
  }

  @Test(
    "The text of the state names the last day of the isolation and of the advice until it is over")
  func lastDays() async throws {
    var state = try await phone().state()
    let day = try #require(CalendarDay("2020-09-10"))
    let until = try #require(CalendarDay("2020-09-20"))
    state.positiveTest = PhoneState.PositiveTest(
      shared: [clock.now], day: day, until: until, isOver: false, isRecent: false)
    state.advice = PhoneState.Advice(until: day, isOver: true)
    let text = state.reply.text
    #expect(text.contains("thank you") && text.contains("until 2020-09-20"))
    #expect(text.contains("Advice: ended on 2020-09-10"))
    let test =
      #""positiveTest":{"day":"2020-09-10","isOver":false,"isRecent":false,"#
      + #""shared":[1600000000],"until":"2020-09-20"}"#
    #expect(state.reply.json?.contains(test) == true)
    state.positiveTest?.isOver = true
    #expect(!state.reply.text.contains("thank you"))
  }

  @Test("The words of the risk follow the checks and encounters, also those below all levels")
  func riskWords() async throws {
    var state = try await phone().state()
    #expect(state.reply.text.contains("Risk: not known before the first complete check\n"))
    #expect(state.reply.text.contains("Last check: never"))
    state.lastCheck = clock.now
    #expect(state.reply.text.contains("Risk: the risk is not known at the moment\n"))
    state.riskLevel = 0
    #expect(state.reply.text.contains("Risk: no relevant encounter is known\n"))
    state.exposures = 1
    #expect(state.reply.text.contains("Risk: none, because the encounters were too short"))
    state.riskLevel = 1
    #expect(state.reply.text.contains("Risk: low risk\n"))
  }

  @Test("The radio is told apart from exposure notifications")
  func radio() async throws {
    var state = try await phone().state()
    #expect(state.radio == .unused && state.reply.text.contains("the phone is not running"))
    (state.radio, state.enabled) = (.on, false)
    #expect(state.reply.text.contains("Bluetooth: on, and not used while"))
    state.radio = .none
    #expect(state.reply.text.contains("Bluetooth: this phone has no radio"))
    (state.radio, state.enabled) = (.on, true)
    #expect(state.reply.text.contains("Bluetooth: on\n"))
  }

  @Test("Hidden details leave the day and the level of an exposure, and nothing else")
  func hidden() throws {
    let bands = [DistanceBand(maximumAttenuation: nil, seconds: 600, weightPercent: 50)]
    let exposure = Exposure(
      id: UUID(), day: UTCDay(of: clock.now), durationSeconds: 600, riskScore: 3_000, bands: bands)
    let shown = PhoneExposures.Row(exposure, .high, isHidden: false)
    #expect(shown.seconds == 600 && shown.score == 3_000 && shown.bands.count == 1)
    let band = PhoneReply(.done, "", shown.bands[0])
    #expect(band.json == #"{"maximumAttenuation":null,"seconds":600,"weightPercent":50}"#)
    let hidden = PhoneExposures.Row(exposure, .high, isHidden: true)
    #expect(hidden.hidden && hidden.date == "2020-09-13" && hidden.riskLevel == 3)
    #expect(hidden.seconds == 0 && hidden.score == 0 && hidden.bands.isEmpty)
    #expect(PhoneReply(.done, "", hidden).json?.contains(#""normalizedMinutes":null"#) == true)
  }
}
