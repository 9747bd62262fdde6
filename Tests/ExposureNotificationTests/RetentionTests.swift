// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing
import World

@testable import ExposureNotification

@Suite struct RetentionTests {
  let folder: TemporaryFolder
  let phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    phone = TestPhone(in: folder.url)
  }

  static let noon = TestPhone.noon
  static let day = TestPhone.day

  /// A clock that trusts `noon`.
  private static func trusting() -> RetentionClock {
    var clock = RetentionClock()
    for hours in -24...0 { clock.read(noon + Double(hours) * 3_600) }
    return clock
  }

  // The clock alone.

  @Test("The first time is trusted when it has persisted for a day; until then everything is kept")
  func first() {
    var clock = RetentionClock()
    for hour in 0..<24 {
      clock.read(Self.noon + Double(hour) * 3_600)
      #expect(clock.trusted == nil)
      #expect(clock.period(at: Self.noon).keeps(Day(number: 1)))
    }
    clock.read(Self.noon + Self.day)
    #expect(clock.trusted == Self.noon + Self.day)
  }

  @Test("A step of a day is trusted at once, a longer one in either direction is not")
  func step() {
    for sign in [-1.0, 1] {
      for (seconds, isTrusted) in [
        (Self.day - 1, true), (Self.day, true),
        (Self.day + 1, false),
      ] {
        var clock = Self.trusting()
        clock.read(Self.noon + sign * seconds)
        #expect((clock.trusted == Self.noon + sign * seconds) == isTrusted)
      }
    }
  }

  @Test(
    "While a clock is known to be wrong by days, the trusted time advances by what passes, and nothing is removed",
    arguments: [-20.0, 20], [true, false])
  func knownError(days: Double, isKnown: Bool) {
    let error = ClockError(secondsAhead: isKnown ? days * Self.day : nil)
    var clock = Self.trusting()
    for hour in 0...48 {
      clock.read(Self.noon + days * Self.day + Double(hour) * 3_600, with: error)
    }
    let now = Self.noon + (days + 2) * Self.day
    #expect(clock.trusted == Self.noon + 2 * Self.day)
    #expect(clock.period(at: now, with: error).keeps(Day(of: Self.noon)))
    #expect(clock.period(at: now, with: error).keeps(Day(of: now)))
    // The clock is set again: forward counts for a day, back for nothing.
    clock.read(now + 20 * Self.day, with: error)
    #expect(clock.trusted == Self.noon + 3 * Self.day)
    clock.read(now, with: error)
    #expect(clock.trusted == Self.noon + 3 * Self.day)
    clock.read(now + Self.day, with: error)
    #expect(clock.trusted == Self.noon + 4 * Self.day)
  }

  @Test(
    "Under a server with a wrong time, data stays for at most 15 readings, a day or more apart",
    arguments: [-3_000.0, 20, 3_000], [1.0, 1.001, 2, 10, 100])
  func boundOfKnownError(days: Double, gap: Double) {
    let error = ClockError(secondsAhead: days * Self.day)
    var clock = Self.trusting()
    clock.read(Self.noon, with: error)
    for reading in 1...15 {
      let now = Self.noon + Double(reading) * gap * Self.day
      clock.read(now, with: error)
      let keeps = clock.period(at: now, with: error).keeps(Day(of: Self.noon))
      #expect(keeps == (reading < 15), "reading \(reading)")
    }
  }

  @Test("A clock that is known to be wrong by less than a day is trusted, and both times are kept")
  func smallError() {
    for sign in [-1.0, 1] {
      let error = ClockError(secondsAhead: sign * (Self.day - 1))
      var clock = Self.trusting()
      let now = Self.noon + 10 * Self.day
      for hour in -240...0 { clock.read(now + Double(hour) * 3_600, with: error) }
      #expect(clock.trusted == now)
      let right = now - sign * (Self.day - 1)
      #expect(clock.period(at: now, with: error).earliest == min(now, right))
      #expect(clock.period(at: now, with: error).keeps(Day(of: max(now, right))))
    }
  }

  @Test("After a jump the data of both times is kept, until the new time has persisted for a day")
  func jump() {
    for days in [-100.0, 100] {
      var clock = Self.trusting()
      let start = Self.noon + days * Self.day
      for hour in 0..<24 {
        let now = start + Double(hour) * 3_600
        clock.read(now)
        let period = clock.period(at: now)
        #expect(period.keeps(Day(of: Self.noon)) && period.keeps(Day(of: now)))
        #expect(!period.isCertain && !period.keeps(Day(of: Self.noon + 50 * Self.day)))
      }
      clock.read(start + Self.day)
      let period = clock.period(at: start + Self.day)
      #expect(period.isCertain && !period.keeps(Day(of: Self.noon)))
      #expect(!period.keeps(since: Self.noon) == (days > 0))
    }
  }

  @Test("A clock that returns keeps the old data and drops that of the wrong time")
  func returns() {
    var clock = Self.trusting()
    for hour in 0..<23 { clock.read(Self.noon + (100 + Double(hour) / 24) * Self.day) }
    let back = Self.noon + Self.day
    clock.read(back)
    let period = clock.period(at: back)
    #expect(period.keeps(Day(of: Self.noon - 13 * Self.day)))
    #expect(!period.keeps(Day(of: Self.noon + 100 * Self.day)))
  }

  @Test("A gap counts for half a day, so that a second jump does not confirm the first")
  func gap() {
    var clock = Self.trusting()
    for days in [100.0, 200] { clock.read(Self.noon + days * Self.day) }
    #expect(clock.trusted == Self.noon)
    clock.read(Self.noon - 100 * Self.day)
    #expect(clock.trusted == Self.noon)
    // A device that is on for a moment every other day still trusts its clock.
    for days in [2.0, 4, 6] { clock.read(Self.noon + days * Self.day) }
    #expect(clock.trusted == Self.noon + 6 * Self.day)
    #expect(ClockLimit.countedGapSeconds * 2 == Self.day)
  }

  @Test(
    "A board that boots in 1970 and runs for hours trusts the time of the network, never 1970",
    arguments: [true, false])
  func board(hasTrusted: Bool) {
    var clock = hasTrusted ? Self.trusting() : RetentionClock()
    var trusted: [Date] = []
    for boot in 0..<40 {
      clock.read(Date(timeIntervalSince1970: 60))
      clock.read(Date(timeIntervalSince1970: 3_600))
      #expect(!clock.period(at: Date(timeIntervalSince1970: 3_600)).isCertain)
      for hour in 0..<6 {
        clock.read(Self.noon + Double(3 + 2 * boot) * Self.day + Double(hour) * 3_600)
      }
      if let time = clock.trusted { trusted.append(time) }
    }
    #expect(trusted.allSatisfy { $0 >= Self.noon })
    #expect(trusted.last.map { $0 > Self.noon + 75 * Self.day } == true)
  }

  // The device.

  private func segments(_ part: String) -> [String] {
    folder.files().filter { $0.path.contains("/\(part)/") }.map(\.lastPathComponent).sorted()
  }

  @Test("A forward jump of the clock removes nothing until it has persisted, also over restarts")
  func forward() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.run(device, days: 2)
    await phone.radio.receive([try phone.sighting(1)])
    let before = (segments("contacts"), segments("keys"))
    #expect(before.0.count == 1 && before.1.count == 3)
    phone.clock.advance(by: 30 * Self.day)
    for _ in 0..<5 {
      let device = phone.device()
      await device.beat()
      phone.clock.advance(by: 3_600)
      await device.beat()
    }
    #expect(segments("contacts") == before.0)
    #expect(segments("keys").starts(with: before.1))
    phone.clock.advance(by: -30 * Self.day - 5 * 3_600)
    let again = phone.device()
    await again.beat()
    #expect(try await again.contacts.sightings().count == 1)
    #expect(segments("keys") == before.1)
    phone.clock.advance(by: 30 * Self.day)
    await phone.run(again, days: 1.1)
    #expect(segments("contacts").isEmpty && segments("keys").count == 2)
  }

  @Test("A clock that is known to be a month ahead removes nothing for days, also over restarts")
  func knownAhead() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.run(device, days: 2)
    await phone.radio.receive([try phone.sighting(1)])
    let before = (segments("contacts"), segments("keys"))
    for _ in 1...2 {
      phone.clock.advance(by: 30 * Self.day)
      for _ in 0..<3 {
        let device = phone.device()
        device.setClock(isWrong: true, secondsAhead: 30 * Self.day)
        await phone.run(device, days: 0.9)
      }
      #expect(segments("contacts") == before.0)
      #expect(segments("keys").starts(with: before.1))
      phone.clock.advance(by: -30 * Self.day)
      let again = phone.device()
      again.setClock(isWrong: false, secondsAhead: nil)
      await again.beat()
      #expect(try await again.contacts.sightings().count == 1)
      #expect(Set(before.1).isSubset(of: segments("keys")))
    }
  }

  @Test("Sightings and keys of a clock that ran ahead are removed when the clock is right again")
  func ahead() async throws {
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.run(device, days: 2)
    phone.clock.advance(by: 365 * Self.day)
    await device.beat()
    await phone.radio.receive([try phone.sighting(1)])
    #expect(segments("contacts").count == 1 && segments("keys").count == 4)
    phone.clock.advance(by: -365 * Self.day)
    await device.beat()
    #expect(segments("contacts").isEmpty && segments("keys").count == 3)
  }

  @Test("Sightings of a wrong time that was trusted are removed after a day of the right time")
  func aheadForLong() async throws {
    phone.clock.advance(by: 365 * Self.day)
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.run(device, days: 3)
    await phone.radio.receive([try phone.sighting(1)])
    phone.clock.advance(by: -365 * Self.day)
    await phone.run(device, days: 0.9)
    #expect(segments("contacts").count == 1)
    await phone.run(device, days: 0.2)
    #expect(segments("contacts").isEmpty && segments("keys").count == 2)
  }

  @Test("A detection during a jump of the clock keeps the matches of the right time")
  func matches() async throws {
    var phone = phone
    let authority = try Authority()
    phone.apiVersion = 2
    phone.region = RegionConfiguration(region: "PL", keys: try authority.verificationKeys)
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    await phone.run(device, days: 2)
    let diagnosed = try DiagnosedUser(on: phone.clock.now)
    await diagnosed.meets(phone)
    await phone.run(device, days: 1)
    let configuration = DiagnosedUser.configuration()
    let file = try authority.publish([try diagnosed.published()])
    #expect(try await manager.detect([file], configuration).matchedKeyCount == 1)
    phone.clock.advance(by: 40 * Self.day)
    await device.beat()
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 0)
    phone.clock.advance(by: -40 * Self.day)
    await device.beat()
    #expect(try await manager.detectAgain(configuration).matchedKeyCount == 1)
  }
}
