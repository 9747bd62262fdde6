// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import World

@testable import ExposureNotification

@Suite("Retention by a clock that jumps to and fro") struct JumpingClockTests {
  private static let day: TimeInterval = 86_400
  private static let hour: TimeInterval = 3_600
  private static let month = 30 * day
  private static let noon = TestPhone.noon

  /// A device at a true time, with a clock that is set to wrong times.
  private struct Phone {
    var clock = RetentionClock()
    /// The seconds since noon.
    var passed: TimeInterval = 0
    var ahead: TimeInterval = 0
    var error: ClockError?
    private var isStarted = false

    var now: Date { noon + passed + ahead }

    /// Lets time pass and reads the clock.
    mutating func pass(_ seconds: TimeInterval) {
      passed += seconds
      clock.read(now, passed: isStarted ? seconds : nil, with: error)
      isStarted = true
    }

    /// Lets hours pass.
    mutating func pass(hours: Int) {
      for _ in 0..<hours { pass(hour) }
    }

    /// Sets the clock.
    mutating func set(ahead: TimeInterval, isKnown: Bool) {
      self.ahead = ahead
      error = isKnown && ahead != 0 ? ClockError(secondsAhead: ahead) : nil
    }

    /// Starts again from the stored clock.
    mutating func restart() throws {
      clock = try JSONDecoder().decode(RetentionClock.self, from: JSONEncoder().encode(clock))
      isStarted = false
    }

    func keeps(_ passed: TimeInterval) -> Bool {
      clock.period(at: now, with: error).keeps(since: noon + passed)
    }
  }

  /// A phone that trusts its clock.
  private static func trusting() -> Phone {
    var phone = Phone()
    phone.pass(hours: 25)
    return phone
  }

  /// The largest deviations of the retention from 14 days over two months, in seconds, of a clock that is set to one of
  /// `places` from time to time.
  private func deviations(
    seed: UInt64, places: [TimeInterval], jumpsPerHour: Double, comparedEvery: TimeInterval
  ) -> (early: TimeInterval, late: TimeInterval) {
    var generator = SeededGenerator(seed: seed)
    var phone = Self.trusting()
    var (early, late) = (0.0, 0.0)
    var (kept, compared): ([TimeInterval], TimeInterval) = ([], 0)
    while phone.passed < 60 * Self.day {
      if Double.random(in: 0..<1, using: &generator) < jumpsPerHour {
        phone.ahead = places.randomElement(using: &generator) ?? 0
      }
      if phone.passed - compared >= comparedEvery {
        compared = phone.passed
        phone.set(ahead: phone.ahead, isKnown: true)
      }
      phone.pass([0.25, 0.5, 1, 2].randomElement(using: &generator).map { $0 * Self.hour } ?? 0)
      if phone.ahead == 0, phone.error == nil { kept.append(phone.passed) }
      kept.removeAll { item in
        let age = phone.passed - item - 14 * Self.day
        let isKept = phone.keeps(item)
        if isKept { late = max(late, age) } else { early = max(early, -age) }
        return !isKept
      }
    }
    return (early, late)
  }

  @Test(
    "A clock that is ahead now and then removes nothing early, and nothing more than a day late",
    arguments: [0.002, 0.02, 0.1, 0.6], [4.0, 20])
  func ahead(jumpsPerHour: Double, hours: Double) {
    for seed in 1...3 as ClosedRange<UInt64> {
      let found = deviations(
        seed: seed, places: [0, 2, 5, 30, 365].map { $0 * Self.day }, jumpsPerHour: jumpsPerHour,
        comparedEvery: hours * Self.hour)
      #expect(found.early <= 0 && found.late <= Self.day, "\(found)")
    }
  }

  @Test(
    "A clock that is behind keeps data until its period is over by that time, and removes none early",
    arguments: [0.002, 0.02, 0.1, 0.6])
  func behind(jumpsPerHour: Double) {
    for seed in 1...3 as ClosedRange<UInt64> {
      let found = deviations(
        seed: seed, places: [0, -2, -5, 30, -365].map { $0 * Self.day },
        jumpsPerHour: jumpsPerHour, comparedEvery: 4 * Self.hour)
      #expect(found.early <= 0, "\(found)")
      #expect(found.late <= 6 * Self.day, "\(found)")
    }
  }

  @Test(
    "Forward a month, back and forward again, twenty times within hours, removes nothing",
    arguments: [true, false])
  func flapping(isKnown: Bool) {
    var phone = Self.trusting()
    for _ in 0..<20 {
      for ahead in [Self.month, 2 * Self.month, 3 * Self.month, 0] {
        phone.ahead = ahead
        phone.error = isKnown ? ClockError(secondsAhead: Self.month) : nil
        for _ in 0..<3 { phone.pass(60) }
        #expect(phone.keeps(Self.hour))
      }
    }
  }

  @Test(
    "A start after the clock was set forward counts for a day at most, one after it was set back for none"
  )
  func starts() throws {
    var phone = Self.trusting()
    phone.set(ahead: Self.month, isKnown: true)
    phone.pass(60)
    let trusted = try #require(phone.clock.trusted)
    for round in 1...5 {
      for ahead in [0, Self.month] {
        phone.ahead = ahead
        try phone.restart()
        phone.pass(60)
      }
      let advanced = try #require(phone.clock.trusted).timeIntervalSince(trusted)
      #expect(advanced <= Double(round) * Self.day)
    }
    #expect(phone.keeps(phone.passed - 9 * Self.day))
    #expect(phone.keeps(Self.hour))
  }

  @Test("Data expires although the clock never returns to the right time, and no error is known")
  func neverRight() {
    var phone = Self.trusting()
    let item = phone.passed
    while phone.passed < item + 16 * Self.day {
      for months in [1.0, 2] {
        phone.set(ahead: months * Self.month, isKnown: false)
        phone.pass(hours: 6)
        if phone.passed < item + 14 * Self.day { #expect(phone.keeps(item), "\(phone.passed)") }
      }
    }
    #expect(!phone.keeps(item))
  }

  @Test(
    "A wrong clock that is confirmed later removes nothing, and its time has to persist anew",
    arguments: [
      // After more than a day the readings before and after are those of different jumps in any case.
      12, 48,
    ])
  func confirmedLater(hours: Int) {
    var phone = Self.trusting()
    let item = phone.passed
    for _ in 1...3 {
      phone.set(ahead: Self.month, isKnown: false)
      phone.pass(hours: 23)
      #expect(phone.keeps(item))
      phone.set(ahead: Self.month, isKnown: true)
      phone.pass(hours: hours)
      #expect(phone.keeps(item))
    }
    // It was refuted: the time is right, and everything of before has expired.
    phone.set(ahead: Self.month, isKnown: false)
    phone.pass(hours: 24)
    #expect(phone.keeps(item))
    phone.pass(hours: 1)
    #expect(!phone.keeps(item))
  }

  @Test("Without a trusted time, one that is known to be wrong is trusted only after 14 days")
  func neverTrusted() {
    var phone = Phone()
    phone.set(ahead: Self.month, isKnown: true)
    phone.pass(hours: 14 * 24)
    #expect(phone.clock.trusted == nil && phone.keeps(-13 * Self.day))
    phone.pass(hours: 2)
    #expect(phone.clock.trusted == phone.now)
    // A time that was not compared yet is trusted after a day, also after one that was wrong.
    var other = Phone()
    other.set(ahead: -Self.month, isKnown: true)
    other.pass(hours: 5 * 24)
    other.set(ahead: 0, isKnown: true)
    other.pass(hours: 24)
    #expect(other.clock.trusted == nil)
    other.pass(hours: 1)
    #expect(other.clock.trusted == other.now)
  }

  @Test("A machine that sleeps for days while its clock is known to be wrong counts all of them")
  func sleep() {
    var phone = Self.trusting()
    let item = phone.passed
    phone.set(ahead: -400 * Self.day, isKnown: true)
    phone.pass(hours: 1)
    phone.pass(13 * Self.day)
    #expect(phone.keeps(item))
    phone.pass(Self.day)
    #expect(!phone.keeps(item))
  }

  // The device.

  @Test("A device whose clock is set forward and back while it runs keeps its sightings and keys")
  func device() async throws {
    let folder = try TemporaryFolder()
    let phone = TestPhone(in: folder.url)
    let device = phone.device()
    try await device.setEnabled(true)
    await phone.run(device, days: 2)
    await phone.radio.receive([try phone.sighting(1)])
    device.setClock(isWrong: true, secondsAhead: Self.month)
    for _ in 1...2 {
      // Known all the time, as between two checks.
      for _ in 0..<10 {
        phone.clock.jump(by: Self.month)
        await device.beat()
        phone.clock.jump(by: -Self.month)
        await device.beat()
      }
      #expect(try await device.contacts.sightings().count == 1)
      #expect(folder.files().filter { $0.path.contains("/keys/") }.count >= 3)
    }
    device.setClock(isWrong: false, secondsAhead: nil)
    await phone.run(device, days: 15)
    #expect(try await device.contacts.sightings().isEmpty)
  }
}
