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
