// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TextEncodings
import VerificationAPI
import World

@testable import HealthAuthorityConsole

/// Lists of codes as laboratories and offices write them.
@Suite struct CodeListTests {
  private static let reader = CodeListReader(
    batch: UUID(uuidString: "0b1c2d3e-0000-4000-8000-000000000001") ?? UUID(),
    times: OfficeTime(zone: TimeZone(identifier: "Europe/Warsaw") ?? .gmt, language: .english),
    now: RunningConsole.start, sendsSMS: true)

  private static func faults(_ text: String) -> [String] {
    do throws(CodeList.Faults) {
      _ = try reader.list(text)
      return []
    } catch {
      return error.all.map { $0.text(.english) }
    }
  }

  // The bytes were written by iconv and by spreadsheets, not by this program.
  @Test(
    "A file in Windows-1250, UTF-16 of both orders or UTF-8 with a mark is read",
    arguments: [
      // ŻÓŁW;potwierdzony;
      "af d3 a3 57 3b 70 6f 74 77 69 65 72 64 7a 6f 6e 79 3b",
      "ff fe 7b 01 d3 00 41 01 57 00 3b 00 6c 00 69 00 6b 00 65 00 6c 00 79 00",
      "fe ff 01 7b 00 d3 01 41 00 57 00 3b 00 6c 00 69 00 6b 00 65 00 6c 00 79",
      "7b 01 d3 00 41 01 57 00 3b 00 6c 00 69 00 6b 00 65 00 6c 00 79 00",
      "ef bb bf c5 bb c3 93 c5 81 57 3b 6c 69 6b 65 6c 79",
      "c5 bb c3 93 c5 81 57 09 6c 69 6b 65 6c 79",
    ])
  func encodings(bytes: String) throws {
    let file = try #require(Data(hexadecimal: bytes.replacing(" ", with: "")))
    let list = try Self.reader.list(try ListText.decoded(file))
    #expect(list.entries.map(\.reference) == ["ŻÓŁW"])
  }

  @Test("A workbook and a file of other bytes are refused with the reason")
  func otherFiles() {
    #expect(throws: ListText.Fault.workbook) {
      try ListText.decoded(Data([0x50, 0x4B, 3, 4, 0, 0]))
    }
    for bytes: [UInt8] in [[0x41, 0, 0, 0x42], [0xFF, 0xFE, 0x41], [0x41, 0x81]] {
      #expect(throws: ListText.Fault.notText) { try ListText.decoded(Data(bytes)) }
    }
  }

  @Test("All faults are reported at once, with the lines of the file")
  func faults() {
    let text = """
      Oznaczenie;test;dzień;telefon

      A-1;confirmed;2027-01-12;+48123456781
      A-2;positive;soon;+48123456782
      "A
      3";likely;;
      A-4;likely;2027-01-16;48123456789
      A-5
      A-6;likely;2026-12-17;;;x
      "A-7;likely
      """
    let faults = Self.faults(text)
    #expect(
      faults.map { String($0.prefix(16)) } == [
        "Line 4: the test", "Line 4: the day ", "Line 5: the phon", "Line 7: The day ",
        "Line 7: the phon",
        "Line 8: expected", "Line 9: expected", "Line 10: a quota",
      ], "\(faults)")
  }

  @Test("Days are read as offices write them, and must be days of the last weeks")
  func days() throws {
    let days = ["2027-01-12", "12.01.2027", "12.1.2027", "2027/1/12", "2027-01-12 00:00:00"]
    for day in days {
      let list = try Self.reader.list("A;likely;\(day)")
      #expect(list.entries.first?.request.symptomDate == "2027-01-12", "\(day)")
    }
    for day in ["30.02.2027", "01/12/2027", "2027-13-01", "12 January", "2027-01-12 10:00"] {
      #expect(Self.faults("A;likely;\(day)").first?.contains("the day must be") == true, "\(day)")
    }
    for (day, isRecent) in [
      ("2026-12-17", false), ("2026-12-18", true), ("2027-01-15", true), ("2027-01-16", false),
    ] {
      #expect(Self.faults("A;likely;\(day)").isEmpty == isRecent, "\(day)")
    }
  }

  @Test("A reference that stands three times gets one code, with other values it is a fault")
  func references() throws {
    let list = try Self.reader.list("A;likely\nB;confirmed\nA;likely\n\nA;likely\n;likely\n;likely")
    #expect(list.entries.map(\.reference) == ["A", "B", "", ""] && list.repeatedLines == 2)
    #expect(Set(list.entries.map(\.request.uuid)).count == 4)
    // The same reference has the same number in another order: nothing is issued twice.
    let again = try Self.reader.list("C;likely\nA;likely")
    #expect(again.entries[1].request.uuid == list.entries[0].request.uuid)
    // A file that was saved on another system may have composed letters otherwise.
    let accents = try ["Zo\u{E9}", "Zoe\u{301}"].map { try Self.reader.list("\($0);likely") }
    #expect(accents[0].entries[0].request.uuid == accents[1].entries[0].request.uuid)
    #expect(
      Self.faults("A%2;likely\nA%2;confirmed") == [
        "Line 2: the reference A%2 has other values on line 1"
      ])
    let long = String(repeating: "a", count: 64)
    #expect(Self.faults("\(long);likely").isEmpty && Self.faults("\(long)a;likely").count == 1)
  }

  @Test("Phone numbers need their country code, and a server that sends SMS")
  func phones() throws {
    let list = try Self.reader.list("A;likely;;+48 123-456-789\nB;likely;;0048 123456789")
    #expect(list.entries.map(\.request.phone) == ["+48123456789", "+48123456789"])
    for number in ["123456789", "48123456789", "4,81235E+10", "+48", "+0123456789"] {
      #expect(Self.faults("A;likely;;\"\(number)\"").count == 1, "\(number)")
    }
    // As a program for contacts copies it: with marks of direction, a narrow space and another hyphen.
    let copied = try Self.reader.list(
      "A;likely;;\u{202A}+48\u{202F}123\u{2011}456\u{2011}789\u{202C}")
    #expect(copied.entries.map(\.request.phone) == ["+48123456789"])
    // A code that is neither sent nor shown would be lost.
    #expect(Self.faults("A;likely;;-\nB;likely;;–").isEmpty)
    let mixed = Self.faults("A;likely;;+48123456789\nB;likely;;\nC;likely")
    #expect(
      mixed.map { String($0.prefix(20)) } == ["Line 2: the phone nu", "Line 3: the phone nu"])
    let without = CodeListReader(
      batch: UUID(), times: Self.reader.times, now: RunningConsole.start, sendsSMS: false)
    #expect(throws: CodeList.Faults.self) { try without.list("A;likely;;+48123456789") }
  }

  @Test("The separator is that of most lines or of sep= in the first, and quoted ones do not count")
  func separators() {
    #expect(CSV.fields("a;\"b,c,d\";e") == [["a", "b,c,d", "e"]])
    #expect(CSV.fields("sep=|\r\na|b") == [["a", "b"]])
    #expect(CSV.rows("sep=;\r\n\r\na;b").map(\.line) == [3])
    #expect(CSV.fields("a\tb;c\td") == [["a", "b;c", "d"]])
    // A blank line, a title and a line break in the name of a column precede the first line with separators.
    #expect(CSV.rows("\r\na;b").map(\.fields) == [["a", "b"]])
    let titled = CSV.fields("List, 12.01.2027\na;b\nc;d")
    #expect(titled.dropFirst() == [["a", "b"], ["c", "d"]])
    #expect(CSV.fields("\"a, \"\"x\"\",\nb\";c") == [["a, \"x\",\nb", "c"]])
    #expect(CSV.fields("a 5\";b\nc,d;e") == [["a 5\"", "b"], ["c,d", "e"]])
  }

  @Test("The file for Polish spreadsheets has a mark, semicolons, the zone, and keeps all digits")
  func download() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { console async throws in
      console.authority.state.codeText = "012345"
      let browser = try await console.signedIn(.issuer, language: "pl")
      let batch = try await browser.get("/codes/batch").field("batch")
      let csv = try await browser.post(
        "/codes/batch", ["batch": batch, "lines": "ŻÓŁW,confirmed,", "as": "csv"])
      let lines = csv.text.split(separator: "\r\n").map(String.init)
      #expect(lines.count == 2, "\(csv.text)")
      #expect(lines.first == "\u{FEFF}Oznaczenie;Kod;Ważny do;Strefa czasowa;Numer kodu;Błąd")
      #expect(
        lines.last?.hasPrefix("ŻÓŁW;012\u{2011}345;2027-01-15 09:30;Europe/Warsaw CET +01:00;")
          == true,
        "\(lines)")
    }
  }

  @Test(
    "A code that a spreadsheet could read as a number or a day is in groups, and apps read it so",
    arguments: [
      ("594619003", "594-619-003"), ("90442636", "9044-2636"), ("12E345", "12E-345"),
      ("1MAR20", "1MA-R20"), ("DEC123", "DEC-123"), ("AB101C", "AB101C"), ("1A2B3C", "1A2B3C"),
    ])
  func numbers(code: String, shown: String) {
    let issued = IssuedCode(uuid: UUID(), code: code, expiresAt: .distantPast)
    #expect(issued.forSpreadsheet == shown.replacing("-", with: "\u{2011}"))
    if code.count == 6 {
      #expect(VerificationCode(issued.forSpreadsheet)?.characters == code)
    } else {
      #expect(ShortCode(issued.forSpreadsheet)?.characters == code)
    }
  }

  @Test("A list whose session has ended is kept, and comes back after the next sign-in")
  func endedSession() async throws {
    let folder = try TemporaryFolder()
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.issuer, language: "pl")
      let page = try await browser.get("/codes/batch")
      console.clock.advance(by: TimeInterval(ConsoleLimit.sessionIdleSeconds))
      let fields = [
        "batch": page.field("batch"), "form-token": page.field("form-token"),
        "lines": "A-1,confirmed,\r\n<b>,likely,",
      ]
      let kept = try await browser.post("/codes/batch", fields)
      #expect(kept.status == 401 && kept.element("kept") == "Wiersze listy: 2.")
      #expect(kept.text.contains("A-1,confirmed,\r\n&lt;b&gt;,likely,</textarea>"))
      #expect(console.authority.state.requests.isEmpty)
      let other = try await console.signedIn(.issuer, name: "Jan")
      let back = try await other.post(
        "/codes/batch",
        ["batch": kept.field("batch"), "lines": fields["lines"] ?? "", "form-token": ""])
      #expect(back.status == 200 && back.element("notice")?.contains("here again") == true)
      #expect(back.text.contains("A-1,confirmed,") && back.field("batch") == fields["batch"])
      #expect(console.authority.state.requests.isEmpty)
      let issued = try await other.post(
        "/codes/batch", ["batch": back.field("batch"), "lines": fields["lines"] ?? ""])
      #expect(issued.element("summary") == "2 codes issued, 0 lines with a fault.")
      let forged = try await other.send(
        "POST", "/codes/batch", Data("lines=A".utf8),
        ["content-type": Form.urlEncodedType, "origin": "https://other.example"])
      #expect(forged.status == 403 && !forged.text.contains("textarea"))
    }
  }
}
