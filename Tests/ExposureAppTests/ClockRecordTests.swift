// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import World

@testable import ExposureApp

@Suite("The record of the times at which the phone's clock was wrong")
struct ClockRecordTests {
  private static let hour: TimeInterval = 3_600

  @Test("Only days between comparisons with the same difference are filled")
  func record() {
    let day = TestApp.noon.unixDay
    func days(_ comparisons: (TimeInterval, days: TimeInterval)...) -> [Int] {
      var record = ClockRecord()
      for (ahead, days) in comparisons {
        let isWrong = abs(ahead) > Self.hour
        let now = TestApp.noon.addingTimeInterval(days * TestApp.day + ahead)
        record.note(isWrong: isWrong, secondsAhead: ahead, at: now)
        record.confirm(true)
      }
      return record.confirmedDays.map { $0 - day }.sorted()
    }
    #expect(days((2 * Self.hour, 0), (2 * Self.hour, 3)) == [0, 1, 2, 3])
    #expect(days((-10 * TestApp.day, 0), (2 * Self.hour, 0)) == [-10, 0])
    // The clock may have been wrong in the same way until it was set, to another wrong time as well.
    #expect(
      days((2 * Self.hour, 0), (-10 * TestApp.day, 1), (2 * Self.hour, 2)) == [-9, -8, 0, 1, 2])
    // The clock may have been wrong until the comparison that found it right.
    #expect(days((2 * Self.hour, 0), (0, 3)) == [0, 1, 2, 3])
    #expect(days((-10 * TestApp.day, 0), (0, 0)) == [-10])
    #expect(days((-10 * TestApp.day, 0), (0, 2)) == [-10, -9, -8])
    #expect(days((2 * Self.hour, 0), (0, 20)) == [])
    // Days of the future and old ones are forgotten.
    #expect(days((10 * TestApp.day, 0), (0, 0)) == [])
    #expect(days((2 * Self.hour, 0), (0, 0), (0, 14)) == [0])
    #expect(days((2 * Self.hour, 0), (0, 0), (0, 15)) == [])
  }

  @Test(
    "The days since the last right comparison are wrong, but no day whose key began at a right time"
  )
  func daysSinceLastRight() {
    let day = TestApp.noon.unixDay
    func days(_ comparisons: (TimeInterval?, days: Double)...) -> [Int] {
      var record = ClockRecord()
      for (ahead, days) in comparisons {
        let now = TestApp.noon.addingTimeInterval(days * TestApp.day + (ahead ?? 0))
        let isWrong = ahead.map { abs($0) > Self.hour } ?? true
        record.note(isWrong: isWrong, secondsAhead: ahead, at: now)
        record.confirm(true)
      }
      return record.confirmedDays.map { $0 - day }.sorted()
    }
    let back = -5 * TestApp.day
    // Five minutes at the time five days ago: the key of that day exists already.
    var record = ClockRecord()
    for days in 0...5 {
      let time = TestApp.noon.addingTimeInterval(Double(days) * TestApp.day)
      record.note(isWrong: false, secondsAhead: 0, at: time)
    }
    for secondsAhead in [back, nil] {
      for _ in 1...2 {
        record.note(isWrong: true, secondsAhead: secondsAhead, at: TestApp.noon)
        record.confirm(true)
        record.note(
          isWrong: false, secondsAhead: 0,
          at: TestApp.noon.addingTimeInterval(5 * TestApp.day + 300))
        #expect(record.confirmedDays == [])
      }
    }
    // A day on which the phone was off has no key of its own.
    #expect(days((0, 4), (back, 5), (0, 5)) == [-1, 0])
    // Days of the phone's clock between the last right and the first wrong comparison.
    #expect(days((0, 0), (2 * Self.hour, 3)) == [1, 2, 3])
    #expect(days((0, 0), (6 * TestApp.day, 2), (0, 2)) == [])
    #expect(days((0, 0), (6 * TestApp.day, 2), (0, 8)) == [6, 7, 8])
    #expect(days((0, 0), (-20 * TestApp.day, 1)) == [-20, -19])
    #expect(days((0, 0), (2 * Self.hour, 40)).count == 15)
    // A later comparison without a stated time: the clock may have been wrong until then.
    #expect(days((-10 * TestApp.day, 1), (nil, -6)) == [-9, -8, -7, -6])
    // The clock was ahead, and may have been so until it was set back.
    #expect(days((5 * TestApp.day, 0), (nil, 1)) == [1, 5, 6])
    // The other way round, and twice without a stated time.
    #expect(days((nil, -9), (-10 * TestApp.day, 4)) == [-9, -8, -7, -6])
    // Without a stated time, all days until the recovery may be wrong.
    #expect(days((nil, 0), (0, 5)) == [0, 1, 2, 3, 4, 5])
  }

  @Test("Between two comparisons without a stated time, the clock was wrong too")
  func recordWithoutTime() {
    var record = ClockRecord()
    for days in [0, 3] {
      record.note(
        isWrong: true, secondsAhead: nil,
        at: TestApp.noon.addingTimeInterval(Double(days) * TestApp.day))
      record.confirm(true)
    }
    #expect(record.confirmedDays == (0...3).map { TestApp.noon.unixDay + $0 })
  }

  @Test("The days of a verdict count only if a second source confirms it")
  func confirmation() {
    let later = TestApp.noon.addingTimeInterval(TestApp.day)
    for isConfirmed in [nil, false, true] {
      var record = ClockRecord()
      record.note(isWrong: true, secondsAhead: 2 * Self.hour, at: TestApp.noon)
      if let isConfirmed { record.confirm(isConfirmed) }
      let days = isConfirmed == true ? [TestApp.noon.unixDay] : []
      #expect(record.confirmedDays == days)
      // The next comparison has the same difference: the second source is not asked again.
      record.note(isWrong: true, secondsAhead: 3 * Self.hour, at: TestApp.noon)
      #expect(record.isConfirmed == isConfirmed)
      record.note(isWrong: true, secondsAhead: 5 * Self.hour, at: TestApp.noon)
      #expect(record.isConfirmed == nil)
      record.note(isWrong: false, secondsAhead: 0, at: later)
      #expect(record.confirmedDays == days)
      #expect(record.isConfirmed == nil)
    }
  }

  @Test(
    "Confirmed days stay, with that of the change, if a later verdict has no answer or is refuted")
  func confirmedDaysStay() {
    let day = TestApp.noon.unixDay
    let days = [0, 1, 2, 3]
    for ahead in [5 * Self.hour, 61 * 60] as [TimeInterval] {
      var record = ClockRecord()
      for days in 0...2 {
        let time = TestApp.noon.addingTimeInterval(Double(days) * TestApp.day)
        record.note(isWrong: true, secondsAhead: 5 * Self.hour, at: time)
        record.confirm(true)
      }
      let setRight = TestApp.noon.addingTimeInterval(3 * TestApp.day)
      record.note(isWrong: true, secondsAhead: ahead, at: setRight)
      #expect(record.isConfirmed == (ahead == 5 * Self.hour ? true : nil))
      #expect(record.confirmedDays.map { $0 - day } == days)
      record.confirm(false)
      #expect(record.confirmedDays.map { $0 - day } == days)
      record.note(isWrong: false, secondsAhead: 0, at: setRight)
      #expect(record.confirmedDays.map { $0 - day } == days)
    }
  }

  @Test("Days of a refuted or unanswered verdict do not count when a later one is confirmed")
  func refutedDays() {
    for firstAnswer in [false, nil] {
      var record = ClockRecord()
      for days in 0...4 {
        let time = TestApp.noon.addingTimeInterval(Double(days) * TestApp.day)
        record.note(isWrong: true, secondsAhead: 61 * 60, at: time)
        // The second source is asked once for a verdict.
        if days == 0, let firstAnswer { record.confirm(firstAnswer) }
      }
      let jump = TestApp.noon.addingTimeInterval(5 * TestApp.day + 5 * Self.hour)
      record.note(isWrong: true, secondsAhead: 61 * 60 + 5 * Self.hour, at: jump)
      record.confirm(true)
      #expect(record.confirmedDays == [jump.unixDay], "\(String(describing: firstAnswer))")
    }
  }

  @Test("If a refuted verdict is confirmed later, only the day of its last comparison counts")
  func confirmedAfterRefutation() {
    var record = ClockRecord()
    for days in 0...4 {
      let time = TestApp.noon.addingTimeInterval(Double(days) * TestApp.day)
      record.note(isWrong: true, secondsAhead: 61 * 60, at: time)
      if days == 0 { record.confirm(false) }
    }
    record.confirm(true)
    #expect(record.confirmedDays == [TestApp.noon.unixDay + 4])
  }

  @Test("The earlier days of a phone that is updated while its clock is wrong stay")
  func earlierRecord() throws {
    let day = TestApp.noon.unixDay
    let stored = """
      {"isWrong": true, "wrongDays": [\(day - 1)], "files": [],
      "lastWrong": {"time": \(TestApp.noon.timeIntervalSinceReferenceDate), "secondsAhead": 7200}}
      """
    for isConfirmed in [true, false] {
      var record = try JSONDecoder().decode(ClockRecord.self, from: Data(stored.utf8))
      record.note(isWrong: true, secondsAhead: 2 * Self.hour, at: TestApp.noon)
      #expect(record.confirmedDays == [day - 1])
      record.confirm(isConfirmed)
      record.note(isWrong: false, secondsAhead: 0, at: TestApp.noon)
      #expect(record.confirmedDays == (isConfirmed ? [day - 1, day] : [day - 1]))
    }
  }

  @Test("The files to analyse again are limited, and old ones are not analysed again")
  func recordedFiles() {
    var record = ClockRecord()
    record.note(isWrong: true, secondsAhead: 2 * TestApp.day, at: TestApp.noon)
    record.note(analysed: (0..<DownloadLimit.wantedMax + 5).map(TestApp.name))
    #expect(record.files.count == DownloadLimit.wantedMax)
    #expect(!record.files.contains(TestApp.name(4)) && record.files.contains(TestApp.name(5)))
    let later = Date(unixSecond: TestApp.end(1_000)).addingTimeInterval(14 * TestApp.day)
    record.note(isWrong: false, secondsAhead: 0, at: later)
    #expect(record.takeFiles(at: later) == Set((1_000...1_004).map(TestApp.name)))
    #expect(record.files.isEmpty)
  }
}
