// SPDX-License-Identifier: Apache-2.0
import Foundation
import Terminal
import Testing

@Suite("Sightings in CSV")
struct SightingsCSVTests {
  private func read(rows: Int, limit: Int) throws -> Int {
    let row = "3c9a1de5dd6b02afa7fded7b570b3e56,c29211b1,1585786200,-60\n"
    let text = SightingsCSV.header + "\n" + String(repeating: row, count: rows)
    return try SightingsCSV(Data(text.utf8), rowCountMax: limit).sightings.count
  }

  @Test("A file with more rows than the limit is rejected")
  func rows() throws {
    #expect(try read(rows: 9, limit: 10) == 9)
    #expect(try read(rows: 10, limit: 10) == 10)
    let failure = #expect(throws: CommandFailure.self) { try read(rows: 11, limit: 10) }
    #expect(failure?.status == .badInput)
    #expect(failure?.message.contains("line 12") == true)
  }

  @Test("A file of a spreadsheet is read: with a byte order mark and CR LF")
  func spreadsheet() throws {
    let row = "3c9a1de5dd6b02afa7fded7b570b3e56,c29211b1,1585786200,-60\r\n"
    let text = "\u{feff}\(SightingsCSV.header)\r\n\(row)"
    #expect(try SightingsCSV(Data(text.utf8)).sightings.count == 1)
  }

  @Test("Another kind of file is named")
  func otherKind() {
    for (content, message) in [
      (Data([0xff, 0xfe, 0x72, 0]), "a.csv is text in UTF-16: save it in UTF-8."),
      (Data([0x1f, 0x8b, 8, 0]), "a.csv is a gzip file: unpack it with gunzip."),
      (Data("{}".utf8), "a.csv is a JSON document: check the file name."),
      (Data("rpi;aem".utf8), "a.csv, line 1: expected the header rpi,aem,unix_time,rssi."),
    ] {
      let failure = #expect(throws: CommandFailure.self) {
        try SightingsCSV(content, name: "a.csv")
      }
      #expect(failure?.message == message)
    }
  }

  @Test("Times and signal strengths on their limits are accepted, beyond them rejected")
  func limits() throws {
    func read(_ time: Int, _ strength: Int) -> Bool {
      let row = "3c9a1de5dd6b02afa7fded7b570b3e56,c29211b1,\(time),\(strength)"
      return (try? SightingsCSV(Data("\(SightingsCSV.header)\n\(row)".utf8))) != nil
    }
    let last = SightingsLimit.times.upperBound
    #expect(read(last, 127) && read(last - 1, 126) && !read(last + 1, 0))
    #expect(read(0, -128) && !read(0, 128) && !read(0, -129) && !read(-1, 0))
  }
}
