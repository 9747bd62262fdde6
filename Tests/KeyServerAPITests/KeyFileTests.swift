// SPDX-License-Identifier: Apache-2.0
import KeyServerAPI
import Testing

@Suite("Names of key files")
struct KeyFileNameTests {
  @Test("Both forms of a name are parsed, with and without a leading slash")
  func bothForms() throws {
    let name = try #require(KeyFileName("/1600000000-1600014400-00001.zip"))
    #expect(name.text == "1600000000-1600014400-00001.zip")
    #expect(name.startTimestamp == 1_600_000_000)
    #expect(name.endTimestamp == 1_600_014_400)
    let older = try #require(KeyFileName("1600014400-00001.zip"))
    #expect(older.startTimestamp == nil)
    #expect(older.endTimestamp == 1_600_014_400)
    #expect(KeyFileName(start: 1_600_000_000, end: 1_600_014_400) == name)
  }

  @Test(
    "An invalid name is rejected",
    arguments: [
      "", "/", ".zip", "index.txt", "../1600014400-00001.zip", "//1600014400-00001.zip",
      "a/1600014400-00001.zip", "1600014400-00001.zip/..", "1600014400-0001.zip",
      "1600014400-000001.zip", "160001440-00001.zip", "16000144000-00001.zip",
      "1600014400-1600014400-00001.zip", "1600014401-1600014400-00001.zip",
      "1600000000-1600014400-1600014401-00001.zip", "+600014400-00001.zip",
      "-1600014400-00001.zip", "1600014400-00001.ZIP", "1600014400-00001.zip ",
      "1600014400-00001.zip\0", "١600014400-00001.zip", "%2e%2e%2f1600014400-00001.zip",
    ])
  func refused(text: String) {
    #expect(KeyFileName(text) == nil)
  }

  @Test("Names are sorted by the end of their period")
  func order() throws {
    let long = try #require(KeyFileName("1500000000-1600014400-00001.zip"))
    let short = try #require(KeyFileName("1600000000-1600007200-00001.zip"))
    #expect([long, short].sorted() == [short, long])
  }
}

@Suite("The index of key files")
struct KeyFileIndexTests {
  private func name(_ number: Int) -> String { "\(1_600_000_000 + number)-00001.zip" }

  @Test("A rendered index is parsed again, oldest first")
  func roundTrip() throws {
    let names = try [2, 1, 3].map { try #require(KeyFileName(name($0))) }
    let text = KeyFileIndex.render(names)
    #expect(text == [1, 2, 3].map(name).joined(separator: "\n"))
    #expect(KeyFileIndex.parse(text) == KeyFileIndex(names: names.sorted()))
  }

  @Test("An invalid line is counted and does not hide valid lines")
  func malformedLine() {
    let index = KeyFileIndex.parse("/\(name(1))\r\nrubbish\n\n\(name(2))\n../../etc/passwd")
    #expect(index.names.map(\.text) == [name(1), name(2)])
    #expect(index.malformedCount == 2)
  }

  @Test("A repeated name is listed once")
  func duplicates() {
    #expect(KeyFileIndex.parse("\(name(1))\n/\(name(1))").names.count == 1)
  }

  @Test("A byte order mark before the first name is ignored")
  func byteOrderMark() {
    let index = KeyFileIndex.parse("\u{FEFF}\(name(1))\n\(name(2))")
    #expect(index == KeyFileIndex(names: [1, 2].compactMap { KeyFileName(name($0)) }))
    #expect(KeyFileIndex.parse("\u{FEFF}") == KeyFileIndex(names: []))
  }

  @Test("An empty index is valid")
  func empty() {
    #expect(KeyFileIndex.parse("") == KeyFileIndex(names: []))
    #expect(KeyFileIndex.render([]) == "")
  }

  @Test("An index with too many names keeps the newest ones", arguments: [-1, 0, 1])
  func nameCount(offset: Int) throws {
    let count = KeyFileIndex.nameCountMax + offset
    let index = KeyFileIndex.parse((0..<count).map(name).joined(separator: "\n"))
    #expect(index.names.count == min(count, KeyFileIndex.nameCountMax))
    #expect(index.malformedCount == max(0, offset))
    #expect(index.names.last?.text == name(count - 1))
  }

  @Test("An index that is too large is rejected", arguments: [-1, 0, 1])
  func byteCount(offset: Int) {
    let blanks = String(repeating: "\n", count: KeyFileIndex.bytesMax + offset - name(1).utf8.count)
    #expect(KeyFileIndex.parse(blanks + name(1)).names.isEmpty == (offset > 0))
  }
}
