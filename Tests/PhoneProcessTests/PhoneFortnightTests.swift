// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import ExposureNotification
import Foundation
import KeyServerAPI
import Secrets
import TestSupport
import Testing
import World

@testable import ExposureApp
@testable import PhoneProcess

/// The whole phone for a fortnight of simulated time, with every notice of it. The phone starts again each day.
@Suite("A fortnight of a phone", .timeLimit(.minutes(Patience.minutes)))
struct PhoneFortnightTests {
  private static let hour: TimeInterval = 3_600
  private static let day: TimeInterval = 86_400

  /// A time zone, and a Monday at 00:00 UTC six days before its summer time begins.
  struct Place: Sendable, CustomTestStringConvertible {
    let zone: String
    let start: Date
    /// The hour of the seventh day at which summer time begins, in UTC.
    let change: Double
    /// The hours by which the local time is ahead of UTC in summer.
    let hoursAhead: Double

    var testDescription: String { zone }

    static let warsaw = Place(
      zone: "Europe/Warsaw", start: Date(timeIntervalSince1970: 1_616_371_200), change: 1,
      hoursAhead: 2)
    static let losAngeles = Place(
      zone: "America/Los_Angeles", start: Date(timeIntervalSince1970: 1_615_161_600), change: 10,
      hoursAhead: -7)
  }

  private let place: Place
  private let scene: PhoneScene
  private let files = Files()
  private var start: Date { place.start }

  /// The published files.
  private final class Files {
    var names: [KeyFileName] = []
    /// The version of the last device configuration.
    var version = 1
  }

  init() throws {
    try self.init(in: .warsaw)
  }

  private init(in place: Place) throws {
    self.place = place
    let zone = try #require(TimeZone(identifier: place.zone))
    scene = try PhoneScene(at: place.start, in: zone)
  }

  /// The phone, started again.
  private func started() async throws -> Phone {
    let phone = try scene.phone()
    await phone.start()
    return phone
  }

  /// Lets time pass until an hour of a day of the fortnight.
  private func pass(to day: Int, _ hour: Double) {
    let time = start.addingTimeInterval(Double(day) * Self.day + hour * Self.hour)
    scene.clock.advance(by: time.timeIntervalSince(scene.clock.now))
  }

  /// Publishes the file of this moment, with `key` or that of a stranger.
  private func publish(_ key: TemporaryExposureKey? = nil) throws {
    let stranger = try self.key(daysAgo: 1)
    files.names.append(try scene.publishFile(with: key ?? stranger))
    scene.server.publish(KeyFileIndex.render(files.names), at: KeyServerRoute.index)
  }

  private func publishConfiguration() throws {
    files.version += 1
    try scene.publishConfiguration(version: files.version)
  }

  private func key(daysAgo: Int) throws -> TemporaryExposureKey {
    let start = try #require(
      IntervalNumber(Date(unixDay: scene.clock.now.unixDay - daysAgo)))
    return try #require(
      TemporaryExposureKey(
        bytes: SystemRandomness().bytes(16), rollingStart: start, rollingPeriod: 144))
  }

  /// A meeting of half an hour, now.
  private func meet(_ phone: Phone) async throws -> TemporaryExposureKey {
    let key = try key(daysAgo: 0)
    let schedule = KeySchedule(key)
    let scans = try (0...6).map { index in
      let time = scene.clock.now.addingTimeInterval(300 * Double(index))
      let identifier = schedule.identifier(at: try #require(IntervalNumber(time)))
      let metadata = schedule.seal(BluetoothMetadata(.unknownModel), beside: identifier)
      return HeardScan(
        time: time.unixSecond,
        beacons: [.init(bytes: Data(identifier.bytes + metadata.bytes), signalStrength: -40)])
    }
    scene.clock.advance(by: 1_800)
    #expect(try await phone.facts(.hear(scans)).status == .done)
    return key
  }

  /// Checks, and expects the failure and the kinds of the notices that are shown afterwards.
  private func check(
    _ phone: Phone, failure: CheckFailure? = nil, shown: [Notice.Identifier], risk: Bool,
    location: SourceLocation = #_sourceLocation
  ) async throws {
    let check = try await phone.facts(.check).json
    #expect(check["failure"] as? String == failure?.rawValue, sourceLocation: location)
    let status = try await phone.facts(.status).json
    let notices = status["shownNotices"] as? [[String: Any]] ?? []
    #expect(
      notices.compactMap { $0["identifier"] as? String }.sorted()
        == shown.map(\.rawValue).sorted(), sourceLocation: location)
    let level = status["riskLevel"] as? Int
    #expect(level.map { $0 > 0 } == risk, sourceLocation: location)
  }

  private func upload(_ phone: Phone, pin: String = "AB2-CD3") async throws -> [String: Any] {
    let request = PhoneRequest(
      .upload(sharesAbroad: false), pin: ZeroingBytes(copying: pin.utf8))
    let reply = await phone.perform(request)
    let json = try JSONSerialization.jsonObject(with: Data((reply.json ?? "{}").utf8))
    return json as? [String: Any] ?? [:]
  }

  @Test(
    "The notices of a fortnight with two encounters, two uploads and failures follow its facts, and end with them",
    arguments: [Place.warsaw, .losAngeles])
  func fortnight(place: Place) async throws {
    try await PhoneFortnightTests(in: place).run()
  }

  private func run() async throws {
    var phone = try await started()
    #expect(try await phone.facts(.enable).status == .done)
    var first: TemporaryExposureKey?
    var second: TemporaryExposureKey?
    for day in 0..<14 {
      pass(to: day, 0.25)
      try publishConfiguration()
      phone = try await started()
      // Half an hour around the change to summer time on the seventh day.
      if day == 6 {
        pass(to: day, place.change - 0.25)
        second = try await meet(phone)
      }
      pass(to: day, 10.5)
      if day == 1 { first = try await meet(phone) }
      let found: [Notice.Identifier] = day < 3 ? [] : [.risk]
      // The second upload removes the notice about the first one.
      let shown = found + (10...11 ~= day ? [.upload] : [])
      try publish(day == 3 ? first : day == 7 ? second : nil)
      switch day {
      case 3: try await check(phone, shown: [.risk], risk: true)
      case 4: try await portalDay(phone, shown: shown)
      case 5: try await damagedFileDay(phone, shown: shown)
      case 7:
        // The owner has read the first notice.
        try await phone.app.dismissNotices()
        try await check(phone, shown: [.risk], risk: true)
      case 8: try await wrongClockDay(phone)
      case 10: try await interruptedUploadDay(phone)
      case 12: #expect(try await upload(phone, pin: "EF4-GH5")["ok"] as? Bool == true)
      default: try await check(phone, shown: shown, risk: day > 2)
      }
      pass(to: day, 20)
      phone = try await started()
      try await check(phone, shown: shown, risk: day > 2)
    }
    try await expectHistory(of: phone)
    try await expectEnds()
  }

  private func portalDay(_ phone: Phone, shown: [Notice.Identifier]) async throws {
    scene.server.answerAll(with: "<html>Sign in to this network</html>")
    for _ in 0..<2 { try await check(phone, failure: .portal, shown: shown, risk: true) }
    scene.server.answerAll(with: nil)
  }

  /// The clock is three hours ahead for an hour, twice.
  private func wrongClockDay(_ first: Phone) async throws {
    var phone = first
    for _ in 1...2 {
      scene.server.setPhoneClock(ahead: 3 * Self.hour)
      try await check(phone, failure: .clockWrong, shown: [.clockWrong, .risk], risk: true)
      scene.clock.advance(by: Self.hour)
      scene.server.setPhoneClock(ahead: -3 * Self.hour)
      try publishConfiguration()
      phone = try await started()
      try await check(phone, shown: [.risk], risk: true)
    }
  }

  /// The notices, encounters and advice of the days after the fortnight end when they should, by the owner's calendar.
  private func expectEnds() async throws {
    for day in 14..<22 {
      pass(to: day, 10.5)
      try publishConfiguration()
      try publish()
      let (hasFirst, hasSecond) = (day < 15, day < 20)
      try await check(try await started(), shown: hasSecond ? [.risk] : [], risk: hasSecond)
      let exposures = try await started().facts(.exposures).json["exposures"] as? [[String: Any]]
      #expect(exposures?.count == [hasFirst, hasSecond].count { $0 })
      // Ten days after the last encounter, and after the first sharing.
      if day == 16 { try await expectEnd(of: "advice", after: 16) }
      if day == 20 { try await expectEnd(of: "positiveTest", after: 20) }
    }
  }

  /// Expects that a part of the state is over at the local midnight that ends a day, and not before.
  private func expectEnd(of part: String, after day: Int) async throws {
    for (hours, isOver) in [(24 - 1.0 / 60, false), (24, true)] {
      pass(to: day, hours - place.hoursAhead)
      let state = try await started().facts(.status).json[part] as? [String: Any]
      #expect(state?["until"] as? String == UTCDay(start.unixDay + day).description)
      #expect(state?["isOver"] as? Bool == isOver, "\(part), \(hours)")
    }
  }

  @Test(
    "A clock that is twenty days ahead for two days, twice, leaves the risk and own keys as they were"
  )
  func wrongClock() async throws {
    #expect(try await started().facts(.enable).status == .done)
    var met: TemporaryExposureKey?
    for day in 0..<3 {
      for hour in [2.0, 14] {
        pass(to: day, hour)
        try publishConfiguration()
        if day == 1, hour < 12 { met = try await meet(try await started()) }
        try publish(day == 2 ? met : nil)
        _ = try await started().facts(.check)
      }
    }
    try await check(try await started(), shown: [.risk], risk: true)
    for _ in 1...2 {
      scene.server.setPhoneClock(ahead: 20 * Self.day)
      for _ in 0..<8 {
        scene.clock.advance(by: 6 * Self.hour)
        try await check(
          try await started(), failure: .clockWrong, shown: [.clockWrong, .risk], risk: true)
      }
      scene.server.setPhoneClock(ahead: -20 * Self.day)
      try publishConfiguration()
      try await check(try await started(), shown: [.risk], risk: true)
      let days = try await started().device.releasableKeys().map { $0.start / 144 }
      #expect(Set(0..<2).isSubset(of: days.map { Int($0) - start.unixDay }))
    }
  }

  private func damagedFileDay(_ phone: Phone, shown: [Notice.Identifier]) async throws {
    let name = try #require(files.names.last).text
    let whole = try #require(scene.server.content(at: name))
    scene.server.publish(whole.prefix(whole.count / 2), at: name)
    for _ in 0..<2 { try await check(phone, failure: .filesMissing, shown: shown, risk: true) }
    scene.server.publish(whole, at: name)
    try await check(phone, shown: shown, risk: true)
  }

  /// The connection is lost between the PIN and the keys, and the phone finishes the upload after a restart.
  private func interruptedUploadDay(_ phone: Phone) async throws {
    let token = #"{"result":{"accessToken":"eyJ.t.s"}}"#
    scene.server.publish(token, at: "getAccessToken")
    let interrupted = try await upload(phone)
    #expect(interrupted["ok"] as? Bool == false && interrupted["reason"] as? String != nil)
    #expect(try await phone.facts(.status).json["pendingUpload"] as? Bool == true)
    try await check(phone, shown: [.risk], risk: true)
    scene.server.publish(#"{"result":""}"#, at: "uploadDiagnosisKeys")
    scene.clock.advance(by: 600)
    let again = try await started()
    try await check(again, shown: [.risk, .upload], risk: true)
    #expect(try await again.facts(.status).json["pendingUpload"] as? Bool == false)
  }

  private func expectHistory(of phone: Phone) async throws {
    let history = try await phone.facts(.history).json
    let notices = history["notices"] as? [[String: Any]] ?? []
    let told = notices.compactMap { notice -> (String, Int)? in
      guard let identifier = notice["identifier"] as? String, let time = notice["time"] as? Int
      else { return nil }
      return (identifier, Date(unixSecond: time).unixDay - start.unixDay)
    }
    #expect(told.map(\.0) == ["risk", "risk", "clock-wrong", "clock-wrong", "upload"])
    #expect(told.map(\.1) == [3, 7, 8, 8, 10])
    let (risk, clock) = ("An encounter with high risk", "The clock of this device is wrong")
    #expect(
      notices.compactMap { $0["title"] as? String }
        == [risk, risk, clock, clock, "Your keys were shared"])
    #expect((history["shared"] as? [Int])?.count == 2)
    let exposures = try await phone.facts(.exposures).json["exposures"] as? [[String: Any]]
    #expect(
      exposures?.compactMap { $0["date"] as? String }
        == [6, 1].map { UTCDay(start.unixDay + $0).description })
    // The server got the keys once for each PIN, with the token of the first attempt.
    #expect(scene.server.requests(for: "getAccessToken").count == 2)
  }
}
