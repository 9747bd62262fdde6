// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
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
  /// Monday, 22 March 2021, 00:00 UTC. In Poland, summer time begins on the sixth day after it, at 01:00 UTC.
  private static let start = Date(timeIntervalSince1970: 1_616_371_200)

  private let scene: PhoneScene
  private let files = Files()

  /// The names of the published files.
  private final class Files {
    var names: [KeyFileName] = []
  }

  init() throws {
    scene = try PhoneScene(at: Self.start)
  }

  /// The phone, started again.
  private func started() async throws -> Phone {
    let phone = try scene.phone()
    await phone.start()
    return phone
  }

  /// Lets time pass until an hour of a day of the fortnight.
  private func pass(to day: Int, _ hour: Double) {
    let time = Self.start.addingTimeInterval(Double(day) * Self.day + hour * Self.hour)
    scene.clock.advance(by: time.timeIntervalSince(scene.clock.now))
  }

  /// Publishes the file of this moment, with `key` or that of a stranger.
  private func publish(_ key: TemporaryExposureKey? = nil) throws {
    let stranger = try self.key(daysAgo: 1)
    files.names.append(try scene.publishFile(with: key ?? stranger))
    scene.server.publish(KeyFileIndex.render(files.names), at: KeyServerRoute.index)
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

  private func upload(_ phone: Phone) async throws -> [String: Any] {
    let request = PhoneRequest(
      .upload(sharesAbroad: false), pin: ZeroingBytes(copying: "AB2-CD3".utf8))
    let reply = await phone.perform(request)
    let json = try JSONSerialization.jsonObject(with: Data((reply.json ?? "{}").utf8))
    return json as? [String: Any] ?? [:]
  }

  @Test(
    "The notices of a fortnight with two encounters, an upload, and failures are those of its facts"
  )
  func fortnight() async throws {
    var phone = try await started()
    #expect(try await phone.facts(.enable).status == .done)
    var first: TemporaryExposureKey?
    var second: TemporaryExposureKey?
    for day in 0..<14 {
      pass(to: day, 0.25)
      try scene.publishConfiguration(version: day + 2)
      phone = try await started()
      // Half an hour around the change to summer time on the seventh day.
      if day == 6 {
        pass(to: day, 0.75)
        second = try await meet(phone)
      }
      pass(to: day, 10)
      if day == 1 { first = try await meet(phone) }
      let found: [Notice.Identifier] = day < 3 ? [] : [.risk]
      let shown = found + (day < 10 ? [] : [.upload])
      try publish(day == 3 ? first : day == 7 ? second : nil)
      switch day {
      case 3: try await check(phone, shown: [.risk], risk: true)
      case 4: try await portalDay(phone, shown: shown)
      case 5: try await damagedFileDay(phone, shown: shown)
      case 7:
        // The owner has read the first notice.
        try await phone.app.dismissNotices()
        try await check(phone, shown: [.risk], risk: true)
      case 10: try await interruptedUploadDay(phone)
      default: try await check(phone, shown: shown, risk: day > 2)
      }
      pass(to: day, 20)
      phone = try await started()
      try await check(phone, shown: shown, risk: day > 2)
    }
    try await expectHistory(of: phone)
  }

  private func portalDay(_ phone: Phone, shown: [Notice.Identifier]) async throws {
    scene.server.answerAll(with: "<html>Sign in to this network</html>")
    for _ in 0..<2 { try await check(phone, failure: .portal, shown: shown, risk: true) }
    scene.server.answerAll(with: nil)
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
      return (identifier, Date(unixSecond: time).unixDay - Self.start.unixDay)
    }
    #expect(told.map(\.0) == ["risk", "risk", "upload"])
    #expect(told.map(\.1) == [3, 7, 10])
    #expect(
      notices.compactMap { $0["title"] as? String } == [
        "An encounter with high risk", "An encounter with high risk", "Your keys were shared",
      ])
    let exposures = try await phone.facts(.exposures).json["exposures"] as? [[String: Any]]
    #expect(exposures?.compactMap { $0["date"] as? String } == ["2021-03-28", "2021-03-23"])
    // The server got the keys once, with the token of the first attempt.
    #expect(scene.server.requests(for: "getAccessToken").count == 1)
  }
}
