// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import SealedStorage
import TestSupport
import Testing

@testable import ExposureNotification

/// The times of scans, which weigh the sightings of the next scan.
@Suite struct ScanTimesTests: SuiteOfTrustingPhone {
  let scene: TrustingPhone

  init() throws { scene = try TrustingPhone() }

  /// Scans once a minute for a quarter of an hour. The diagnosed user is received in three of the scans, a
  /// stranger in all of them if `withStranger` is true.
  private func meet(_ diagnosed: DiagnosedUser, withStranger: Bool) async throws {
    for minute in 0..<15 {
      let time = phone.clock.now + Double(minute) * 60
      let heard = [2, 7, 12].contains(minute) ? [try diagnosed.sighting(at: time)] : []
      let others = withStranger ? [try phone.sighting(minute / 10, at: time)] : []
      await phone.radio.receive(Scan(time: time, sightings: heard + others))
    }
  }

  @Test(
    "A meeting has the same weight alone and with a stranger in range", arguments: [false, true])
  func sameWeight(withStranger: Bool) async throws {
    let manager = try await phone.enabledManager()
    let diagnosed = try DiagnosedUser()
    try await meet(diagnosed, withStranger: withStranger)
    phone.clock.advance(by: TestPhone.day)
    let file = try authority.publish([try diagnosed.published()])
    let summary = try await manager.detect([file], DiagnosedUser.configuration())
    let scans = try await manager.windows(of: summary).flatMap(\.scanInstances)
    #expect(scans.map(\.secondsSinceLastScan) == [60, 60, 60])
    #expect(summary.daySummaries.first?.daySummary.weightedDurationSum == 180 as Double)
  }

  @Test("The times of all scans are stored, sealed and removed with their day")
  func stored() async throws {
    try await phone.device().setEnabled(true)
    let device = phone.device()
    await device.beat()
    let times = [0.0, 240.125, 480].map { phone.clock.now + $0 }
    await phone.radio.receive(Scan(time: times[0], sightings: []))
    let seen = try phone.sighting(1, at: times[1] + 2)
    await phone.radio.receive(Scan(time: times[1], sightings: [seen]))
    await phone.radio.receive(Scan(time: times[2], sightings: []))
    let received = try await phone.device().contacts.received()
    #expect(received.scanTimes == times)
    #expect(received.sightings == [seen])
    let file = try Data(contentsOf: folder.path("contacts/18428.sealed"))
    for time in times { #expect(file.range(of: StoredScan(time: time).record.dropFirst()) == nil) }
    await phone.run(device, days: 15)
    #expect(try await device.contacts.received() == ReceivedBeacons())
    #expect(!folder.files().contains { $0.path.contains("/contacts/") })
  }

  @Test("An empty scan takes 49 bytes, and a record decodes to its time")
  func size() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.radio.receive(Scan(time: phone.clock.now, sightings: []))
    #expect(try Data(contentsOf: folder.path("contacts/18428.sealed")).count == 49)
    let record = StoredScan(time: phone.clock.now).record
    #expect(record.count == StoredScan.byteCount)
    #expect(StoredScan(record)?.time == phone.clock.now)
    #expect(StoredScan(record + [0]) == nil && StoredScan(record.dropLast()) == nil)
    #expect(StoredScan(Data([1]) + record.dropFirst()) == nil)
  }

  @Test("A scan over midnight leaves its time and sightings in their days")
  func midnight() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    let midnight = phone.clock.now + 43_200
    let late = try phone.sighting(1, at: midnight + 1)
    await phone.radio.receive(Scan(time: midnight - 2, sightings: [late]))
    let received = try await device.contacts.received()
    #expect(received.scanTimes == [midnight - 2] && received.sightings == [late])
    let names = folder.files().map(\.lastPathComponent)
    #expect(names.contains("18428.sealed") && names.contains("18429.sealed"))
  }

  @Test("Of too many scans of a day the first times are stored, and all sightings")
  func limit() async throws {
    let limit = ContactLimit.scansPerDay
    let log = SealedLog(
      folder: folder.path("contacts"), key: phone.sealingKey, purpose: "contacts",
      randomness: phone.randomness)
    let earlier = (0..<limit - 2).map { StoredScan(time: phone.clock.now - Double($0)).record }
    try await log.append(earlier, day: 18_428)
    let device = phone.device()
    try await device.setEnabled(true)
    for number in 1...3 {
      let time = phone.clock.now + Double(number)
      let scan = Scan(time: time, sightings: [try phone.sighting(number, at: time)])
      await phone.radio.receive(scan)
      let received = try await device.contacts.received()
      #expect(received.scanTimes.count == min(limit - 2 + number, limit))
      #expect(received.sightings.count == number)
    }
  }

  @Test("The limit of sightings of a detection does not count scans")
  func scansAreNoSightings() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    for second in 0..<3 {
      let time = phone.clock.now + Double(second)
      await phone.radio.receive(Scan(time: time, sightings: [try phone.sighting(second, at: time)]))
      await phone.radio.receive(Scan(time: time + 0.5, sightings: []))
    }
    #expect(try await device.contacts.received(atMost: 3).scanTimes.count == 6)
    let error = await #expect(throws: ENError.self) {
      _ = try await device.contacts.received(atMost: 2)
    }
    #expect(error?.code == .insufficientMemory)
  }
}
