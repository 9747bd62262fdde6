// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOHTTP1
import TestSupport
import Testing

@testable import Classroom

@Suite("A class over HTTP", .timeLimit(.minutes(Patience.minutes))) struct ClassTests {
  @Test("Each browser gets a phone of its own, and the same one after a reload")
  func join() async throws {
    try await ClassRoom.with { room in
      let one = room.browser()
      #expect(try await one.get("/").text.contains("Get a phone"))
      #expect(try await one.get("/phone").location == "/")
      _ = try await one.post("/join")
      #expect(try await one.get("/phone").text.contains("<h1>Phone 1</h1>"))
      #expect(try await one.get("/").location == "/phone")
      #expect(try await one.post("/join").location == "/phone")
      let two = try await room.pupil()
      #expect(try await two.get("/phone").text.contains("<h1>Phone 2</h1>"))
      #expect(try await one.get("/phone").text.contains("<h1>Phone 1</h1>"))
      let page = try await room.teacher.get("/teacher").text
      #expect(page.contains("Phones taken: 2 of 400. Pages open: 0."))
    }
  }

  @Test("A full class refuses browsers with one message, and a returned phone is assigned again")
  func full() async throws {
    try await ClassRoom.with(phonesMax: 2) { room in
      let one = try await room.pupil()
      _ = try await room.pupil()
      let late = room.browser()
      for reply in [try await late.get("/"), try await late.post("/join")] {
        #expect(reply.text.contains("This class is full"))
        #expect(reply.text.contains("All 2 phones are taken."))
        #expect(!reply.text.contains("Get a phone"))
      }
      #expect(try await late.post("/join").status == 409)
      #expect(try await one.post("/phone/leave").location == "/")
      #expect(try await room.row(1).contains("given back"))
      #expect(try await late.get("/").text.contains("Get a phone"))
      #expect(try await late.post("/join").location == "/phone")
      let again = try await late.get("/phone").text
      #expect(again.contains("<h1>Phone 1</h1>") && again.contains("Switch the phone off"))
      // The browser that has left has no phone any more.
      #expect(try await one.get("/phone").location == "/")
    }
  }

  @Test("The teacher frees a phone whose page is closed, and the next browser gets it")
  func free() async throws {
    try await ClassRoom.with(phonesMax: 2) { room in
      let one = try await room.pupil()
      _ = try await room.pupil()
      #expect(try await room.row(1).contains("page closed Free"))
      #expect(try await room.teacher.post("/teacher/free", "phone=1").status == 303)
      #expect(try await room.teacher.get("/teacher").text.contains("Phone 1 is free."))
      #expect(try await room.row(1).contains("given back"))
      #expect(try await !room.row(1).contains("Free"))
      #expect(try await one.get("/phone").text.contains("no longer in this class"))
      #expect(try await room.pupil().get("/phone").text.contains("<h1>Phone 1</h1>"))
      _ = try await room.teacher.post("/teacher/free", "phone=3")
      #expect(try await room.teacher.get("/teacher").text.contains("There is no such phone."))
    }
  }

  @Test("A page is in the language that its browser prefers")
  func languages() async throws {
    try await ClassRoom.with { room in
      let pupil = try await room.pupil()
      let polish = try await pupil.get("/phone", language: "de,pl;q=0.8,en;q=0.5").text
      #expect(polish.contains("<html lang=\"pl\">") && polish.contains("<h1>Telefon 1</h1>"))
      let english = try await pupil.get("/phone", language: "de").text
      #expect(english.contains("<html lang=\"en\">") && english.contains("<h1>Phone 1</h1>"))
    }
  }

  @Test("A browser whose session ended gets 403 with a message, and can join again")
  func ended() async throws {
    try await ClassRoom.with { room in
      let one = try await room.pupil()
      // Another page of the same browser gives the phone back.
      let copy = await ClassBrowser(copying: one)
      _ = try await one.post("/phone/leave")
      for path in ["/phone", "/phone/events"] {
        let reply = try await copy.get(path)
        #expect(reply.status == 403 && reply.text.contains("no longer in this class"))
      }
      #expect(try await copy.post("/phone/check").status == 403)
      #expect(try await copy.post("/join").location == "/phone")
    }
  }

  @Test("Requests for other hosts, from other sites and without the teacher's secret are refused")
  func gate() async throws {
    try await ClassRoom.with { room in
      let pupil = try await room.pupil()
      let other = try await pupil.get("/phone", host: "evil.example:\(room.port)")
      #expect(other.status == 421 && other.text.contains("http://127.0.0.1:\(room.port)/"))
      #expect(try await pupil.get("/phone", host: "class.example:\(room.port)").status == 200)
      for origin in ["http://evil.example", "null", "https://127.0.0.1:\(room.port)"] {
        #expect(try await pupil.post("/phone/power", "on=no", origin: origin).status == 403)
      }
      #expect(try await pupil.get("/phone").text.contains("Switch the phone off"))
      for path in ["/teacher", "/teacher?secret=", "/teacher/sheet", "/teacher/events"] {
        #expect(try await pupil.get(path).status == 403)
      }
      #expect(try await pupil.post("/teacher/infect").status == 403)
      #expect(try await pupil.get("/nothing").status == 404)
    }
  }

  @Test("Pages allow no foreign content, and cookies are HttpOnly and SameSite")
  func headers() async throws {
    try await ClassRoom.with { room in
      let joined = try await room.browser().post("/join")
      let cookie = try #require(joined.headers.first(name: "set-cookie"))
      #expect(cookie.hasSuffix("; Max-Age=\(12 * 3_600); Path=/; HttpOnly; SameSite=Lax"))
      #expect(cookie.firstMatch(of: /=[0-9a-f]{64};/) != nil)
      let page = try await room.teacher.get("/teacher")
      let policy = try #require(page.headers.first(name: "content-security-policy"))
      #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
      #expect(policy.contains("frame-ancestors 'none'"))
      #expect(!page.text.contains("style=") && !page.text.contains("onclick"))
      for file in ["/class.css", "/class.js", "/pointer-guard.js"] {
        #expect(try await room.browser().get(file).status == 200)
      }
    }
  }

  @Test("A form of 1,024 bytes is read, a larger one is refused with a message")
  func largeForms() async throws {
    try await ClassRoom.with { room in
      let pupil = try await room.pupil()
      let padding = String(repeating: "a", count: ClassLimit.bodyBytesMax - 6)
      #expect(try await pupil.post("/phone/power", "on=no&" + padding).status == 303)
      #expect(try await pupil.get("/phone").text.contains("Switch the phone on"))
      let reply = try await pupil.post("/phone/power", "on=yes&" + padding)
      #expect(reply.status == 413 && reply.text.contains("too large"))
    }
  }

  @Test("A browser that stops in the middle of a form gets 408 after some seconds")
  func halfSent() async throws {
    try await ClassRoom.with { room in
      let answer = try await RawPost(
        port: room.port, path: "/join",
        headers: [
          "host": "127.0.0.1:\(room.port)", "content-type": "application/x-www-form-urlencoded",
        ]
      ).answer(sending: Data("name=".utf8), announced: 100)
      #expect(answer.status == 408)
    }
  }

  @Test("The code leads to the join page, and the secret is not on any page")
  func code() async throws {
    try await ClassRoom.with { room in
      let page = try await room.browser().get("/code", host: "class.example:\(room.port)").text
      #expect(page.contains("QR code with the address http://class.example:\(room.port)/"))
      #expect(!page.contains("secret"))
      #expect(try await !room.teacher.get("/teacher").text.contains("secret="))
    }
  }

  @Test("Open pages get an event for each change, and the teacher's page shows which are closed")
  func events() async throws {
    try await ClassRoom.with { room in
      let pupil = try await room.pupil()
      #expect(try await room.row(1).contains("page closed"))
      var counted = 0
      try await pupil.events("/phone/events") { text in
        let count = text.matches(of: /event: change/).count
        if count > counted, count < 3 {
          counted = count
          #expect(try await !room.row(1).contains("page closed"))
          _ = try await pupil.post("/phone/power", "on=\(count.isMultiple(of: 2) ? "yes" : "no")")
        }
        return count >= 3
      }
      try await Patience.until { try await room.row(1).contains("page closed") }
      #expect(try await room.row(1).contains("page closed"))
    }
  }

  @Test("A phone that is off cannot check or share; the page says what to do")
  func phoneOff() async throws {
    try await ClassRoom.with { room in
      let pupil = try await room.pupil()
      _ = try await pupil.post("/phone/power", "on=no")
      for command in ["check", "pin"] {
        let reply = try await pupil.post("/phone/" + command, "pin=ABC123")
        #expect(reply.status == 409 && reply.text.contains("switch it on first"))
      }
      _ = try await pupil.post("/phone/power", "on=yes")
      #expect(try await pupil.post("/phone/check").status == 303)
    }
  }
}
