// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import KeyServerAPI
import Logging
import TestSupport
import Testing
import World

@testable import ExposureApp
@testable import PhoneProcess

/// The whole phone for a week of simulated time: framework, app, schedule, storage and socket.
@Suite("A week of a phone", .timeLimit(.minutes(Patience.minutes)))
struct PhoneWeekTests {
  private static let hour: TimeInterval = 3_600
  private static let step: TimeInterval = 300

  /// The events of the week, for the expectations at its end.
  private struct Record {
    var received = 0
    /// The times from which the phone was running and awake.
    var awake: [Date] = []
    var sent: [DeveloperRadio.Sent] = []
  }

  private let scene: PhoneScene

  init() throws {
    scene = try PhoneScene()
  }

  /// Runs the phone while `body` runs, like a process between its start and a reboot.
  private func running(
    _ record: inout Record, _ body: (Phone, inout Record) async throws -> Void
  ) async throws {
    let phone = try scene.phone()
    let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
    let running = Task { try await phone.run { isReady.finish() } }
    for await _ in ready {}
    record.awake.append(scene.clock.now)
    await settle(phone)
    do {
      try await body(phone, &record)
    } catch {
      running.cancel()
      throw error
    }
    record.sent += phone.developerRadio?.sent ?? []
    running.cancel()
    try? await running.value
  }

  /// Waits until the device, the schedule and the watch over the socket sleep, and no check is running.
  private func settle(_ phone: Phone) async {
    await Patience.yielding {
      // A check may start or end between the readings, and a call of the framework sleeps as well.
      guard scene.clock.sleeperCount == 3, await !phone.app.currentState.isChecking else {
        return false
      }
      return scene.clock.sleeperCount == 3
    }
  }

  /// Lets `hours` pass; every hour the phone receives two beacons of strangers.
  private func pass(_ hours: Int, _ phone: Phone, _ record: inout Record) async throws {
    for _ in 0..<hours {
      for _ in 0..<Int(Self.hour / Self.step) {
        scene.clock.advance(by: Self.step)
        await settle(phone)
      }
      let scan = HeardScan(
        time: Int64(scene.clock.now.timeIntervalSince1970),
        beacons: (0..<2).map { _ in
          HeardScan.Beacon(bytes: Data(SystemRandomness().bytes(20)), signalStrength: -70)
        })
      try await hear([scan], phone, &record)
    }
  }

  private func hear(
    _ scans: [HeardScan], _ phone: Phone, _ record: inout Record
  ) async throws {
    let heard = try await phone.facts(.hear(scans))
    #expect(heard.status == .done)
    record.received += scans.map(\.beacons.count).reduce(0, +)
  }

  /// The clock jumps while nothing runs, and the phone wakes.
  private func sleep(_ hours: Int, _ phone: Phone, _ record: inout Record) async {
    scene.clock.advance(by: Double(hours) * Self.hour)
    record.awake.append(scene.clock.now)
    await settle(phone)
  }

  /// A meeting of half an hour with a phone whose key is returned.
  private func meet(_ phone: Phone, _ record: inout Record) async throws -> TemporaryExposureKey {
    let now = scene.clock.now
    let day = Date(
      timeIntervalSince1970: (now.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400)
    let start = try #require(IntervalNumber(day))
    let key = try #require(
      TemporaryExposureKey(
        bytes: SystemRandomness().bytes(16), rollingStart: start, rollingPeriod: 144))
    let schedule = KeySchedule(key)
    let identifier = schedule.identifier(at: try #require(IntervalNumber(now)))
    let metadata = schedule.seal(BluetoothMetadata(.unknownModel), beside: identifier)
    let beacon = HeardScan.Beacon(
      bytes: Data(identifier.bytes + metadata.bytes), signalStrength: -40)
    let scans = (0...6).map {
      HeardScan(time: Int64(now.timeIntervalSince1970) + 300 * $0, beacons: [beacon])
    }
    try await hear(scans, phone, &record)
    return key
  }

  @Test(
    "A phone that sleeps, reboots and misses a day checks on schedule, warns once and loses nothing"
  )
  func week() async throws {
    var record = Record()
    var met: TemporaryExposureKey?
    let first = try scene.phone()
    await first.start()
    #expect(try await first.facts(.enable).status == .done)
    for day in 0..<7 {
      try scene.publishConfiguration(version: day + 2)
      if day == 3 {
        // Turned off for a whole day.
        scene.clock.advance(by: 24 * Self.hour)
        continue
      }
      try await running(&record) { phone, record in
        try await pass(6, phone, &record)
        if day == 1 { met = try await meet(phone, &record) }
        await sleep(7, phone, &record)
        try await pass(3, phone, &record)
      }
      // A reboot takes an hour.
      scene.clock.advance(by: Self.hour)
      if day == 4, let met { try scene.publish(met) }
      try await running(&record) { phone, record in try await pass(7, phone, &record) }
    }
    try await expectState(after: record)
    expectChecks(after: record)
    // An identifier is sent for 10 to 20 minutes, and no other interval begins with it.
    let identifiers = Dictionary(grouping: record.sent) { $0.beacon.identifier.bytes }
    #expect(identifiers.count > 6 * 16 * 3)
    #expect(identifiers.values.allSatisfy { Set($0.map { IntervalNumber($0.time) }).count == 1 })
  }

  private func expectState(after record: Record) async throws {
    let phone = try scene.phone()
    await phone.start()
    let status = try await phone.facts(.status).json
    #expect(status["storage"] as? String == "ready" && status["damaged"] as? [String] == [])
    #expect(status["exposures"] as? Int == 1 && (status["riskLevel"] as? Int ?? 0) > 0)
    #expect(status["notices"] as? Int == 1 && status["lastFailure"] is NSNull)
    let all = try await phone.facts(.exportMyData).json
    let received = (all["received"] as? [[String: Any]] ?? []).compactMap { $0["beacons"] as? Int }
    #expect(received.reduce(0, +) == record.received)
    let shown = scene.log.lines.filter { $0.contains("new notice: run") }
    #expect(shown.count == 1, "\(shown)")
    let history = try await phone.facts(.history).json
    #expect(history["keysTotal"] as? Int == 1)
  }

  /// Checks are four hours apart, or as long as the phone was asleep or off; then one runs soon.
  private func expectChecks(after record: Record) {
    let checks = scene.server.requests(for: KeyServerRoute.index)
    for (one, next) in zip(checks, checks.dropFirst()) {
      let seconds = next.timeIntervalSince(one)
      #expect(seconds >= 4 * 3_600 - Self.step, "\(one) \(next)")
      let wasAway = record.awake.contains { one < $0 && $0 <= next }
      #expect(wasAway || seconds <= 4 * 3_600 + 2 * Self.step, "\(one) \(next)")
    }
    for start in record.awake {
      guard let last = checks.last(where: { $0 < start }),
        start.timeIntervalSince(last) > 4 * 3_600 + 120
      else { continue }
      let next = checks.first { $0 >= start }
      #expect(next.map { $0.timeIntervalSince(start) <= 2 * Self.step } == true, "\(start)")
    }
    #expect(checks.count > 6 * 4)
  }
}
