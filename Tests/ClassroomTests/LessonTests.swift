// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import Classroom

@Suite("A lesson over HTTP", .timeLimit(.minutes(Patience.minutes))) struct LessonTests {
  @Test("From the infection to the notice: who was notified, who was missed, and why")
  func outbreak() async throws {
    try await ClassRoom.with { room in
      var pupils: [ClassBrowser] = []
      for _ in 1...3 { pupils.append(try await room.pupil()) }
      let infected = try await infectOne(in: room)
      let index = infected - 1
      // Three people share a home. One of them has the phone off.
      let home = Array(index / 3 * 3..<index / 3 * 3 + 3).filter { $0 != index }
      let (near, off) = (home[0], home[1])
      _ = try await pupils[off].post("/phone/power", "on=no")
      try await room.pass("morning")
      try await room.pass("morning")
      #expect(try await room.time() == "Day 3, 07:00")
      #expect(try await room.row(off + 1).contains("missed: one of the two phones was off"))
      #expect(
        try await room.row(near + 1).contains("missed: the infectious person has not been tested"))

      let healthy = try await room.teacher.post("/teacher/test", "phone=\(near + 1)")
      #expect(healthy.status == 303)
      #expect(try await pupils[near].get("/phone").text.contains("your test is negative"))
      _ = try await room.teacher.post("/teacher/test", "phone=\(infected)")
      #expect(try await room.row(near + 1).contains("has not entered the PIN"))
      let pin = try await pin(on: pupils[index])
      #expect(try await !room.teacher.get("/teacher").text.contains(pin))

      #expect(try await pupils[index].post("/phone/pin", "pin=\(pin)").status == 303)
      #expect(try await pupils[index].get("/phone").text.contains("Your keys are shared."))
      #expect(try await room.row(infected).contains("positive, keys shared"))
      #expect(try await room.row(near + 1).contains("the keys are not published yet"))
      try await room.pass("hour")
      #expect(try await room.row(near + 1).contains("has not downloaded the keys yet"))
      #expect(try await pupils[near].get("/phone").text.contains("no notice for you"))
      _ = try await pupils[near].post("/phone/check")
      #expect(try await pupils[near].get("/phone").text.contains("later tested positive"))
      #expect(try await room.row(near + 1).contains(" notified "))

      try await room.pass("morning")
      #expect(try await room.row(off + 1).contains("missed: one of the two phones was off"))
      try await requireSheet(in: room)
      // A phone that is off does not check by itself.
      #expect(
        try await pupils[off].get("/phone").text.contains(
          "<dt>Last check for published keys</dt><dd>never</dd>"))
    }
  }

  @Test("An expired and a malformed PIN are refused, and a new test gives a new PIN")
  func pins() async throws {
    try await ClassRoom.with { room in
      let pupil = try await room.pupil()
      #expect(try await infectOne(in: room) == 1)
      _ = try await room.teacher.post("/teacher/test", "phone=1")
      let first = try await pin(on: pupil)
      _ = try await pupil.post("/phone/pin", "pin=\(first)")
      #expect(try await pupil.get("/phone").text.contains("Enter the PIN again tomorrow"))
      try await room.pass("morning")
      try await room.pass("hour")
      _ = try await pupil.post("/phone/pin", "pin=\(first)")
      #expect(try await pupil.get("/phone").text.contains("This PIN is not valid"))
      _ = try await pupil.post("/phone/pin", "pin=1")
      #expect(
        try await pupil.get("/phone").text.contains("A PIN has six to ten letters and digits"))
      _ = try await room.teacher.post("/teacher/test", "phone=1")
      let second = try await pin(on: pupil)
      #expect(second != first)
      let spaced = second.map(String.init).joined(separator: "+").lowercased()
      _ = try await pupil.post("/phone/pin", "pin=\(spaced)")
      #expect(try await pupil.get("/phone").text.contains("Your keys are shared."))
    }
  }

  @Test("A person who is not infectious yet is tested negative")
  func early() async throws {
    var rules = ClassRoom.gentle
    rules.hoursUntilInfectious = 2
    try await ClassRoom.with(rules: rules) { room in
      let pupil = try await room.pupil()
      #expect(try await infectOne(in: room) == 1)
      try await room.pass("hour")
      _ = try await room.teacher.post("/teacher/test", "phone=1")
      #expect(try await pupil.get("/phone").text.contains("your test is negative"))
      try await room.pass("hour")
      _ = try await room.teacher.post("/teacher/test", "phone=1")
      _ = try await pin(on: pupil)
    }
  }

  @Test("While the automatic clock is on, an hour passes every three seconds")
  func automatic() async throws {
    let clock = ManualClock(Date(timeIntervalSince1970: 1_800_000_000))
    try await ClassRoom.with(clock: clock) { room in
      _ = try await room.pupil()
      // The heartbeats sleep on the same clock.
      try await Patience.until { clock.sleeperCount == 1 }
      _ = try await room.teacher.post("/teacher/clock", "on=yes")
      try await Patience.until { clock.sleeperCount == 2 }
      #expect(try await room.time() == "Day 1, 08:00")
      clock.advance(by: ClassLimit.secondsPerHour - 1)
      #expect(try await room.time() == "Day 1, 08:00")
      clock.advance(by: 1)
      try await Patience.until { clock.sleeperCount == 2 }
      #expect(try await room.time() == "Day 1, 09:00")
      _ = try await room.teacher.post("/teacher/clock", "on=no")
      clock.advance(by: ClassLimit.secondsPerHour)
      try await Patience.until { clock.sleeperCount == 1 }
      #expect(try await room.time() == "Day 1, 09:00")
    }
  }

  @Test("A lesson ends with a message after its last hour, by default after three weeks")
  func end() async throws {
    #expect(ClassLimit.hoursMax == 3 * 7 * 24)
    try await ClassRoom.with(hoursMax: 3) { room in
      for _ in 1...2 { try await room.pass("hour") }
      #expect(try await room.time() == "Day 1, 09:00")
      #expect(try await !room.teacher.get("/teacher").text.contains("last day"))
      // The next morning would be later than the end.
      try await room.pass("morning")
      #expect(try await room.time() == "Day 1, 10:00")
      #expect(try await !room.teacher.get("/teacher").text.contains("last day"))
      _ = try await room.teacher.post("/teacher/hour")
      try await Patience.until {
        try await room.teacher.get("/teacher").text.contains("reached its last day")
      }
      #expect(try await room.teacher.get("/teacher").text.contains("reached its last day"))
      #expect(try await room.time() == "Day 1, 10:00")
    }
  }

  /// The sheet has the numbers of a lesson with three phones, one of which was off.
  private func requireSheet(in room: ClassRoom) async throws {
    let sheet = try await room.teacher.get("/teacher/sheet").text
    #expect(sheet.contains("Phones: 3. Simulated days: 4."))
    #expect(sheet.contains("<dt>Infected so far</dt><dd>1</dd>"))
    #expect(sheet.contains("<dt>Diagnosed</dt><dd>1</dd>"))
    #expect(sheet.contains("one of the two phones was off</th><td class=\"number\">1</td>"))
    let notified = try #require(
      sheet.firstMatch(of: /<dt>Exposed and notified<\/dt><dd>(\d+)<\/dd>/))
    #expect(try #require(Int(notified.1)) >= 1)
    let curve = try #require(sheet.firstMatch(of: /1 diagnosed, (\d+) notified/))
    #expect(curve.1 == notified.1)
  }

  /// Starts an infection and returns the number of the phone.
  private func infectOne(in room: ClassRoom) async throws -> Int {
    _ = try await room.teacher.post("/teacher/infect")
    let page = try await room.teacher.get("/teacher").text
    let news = try #require(page.firstMatch(of: /The person of phone (\d+) is infected/))
    return try #require(Int(news.1))
  }

  private func pin(on pupil: ClassBrowser) async throws -> String {
    let page = try await pupil.get("/phone").text
    return try String(
      #require(page.firstMatch(of: /<strong class="pin">([0-9A-Z]{6,8})<\/strong>/)).1)
  }
}
