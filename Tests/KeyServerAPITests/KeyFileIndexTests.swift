import KeyServerAPI
import Testing

@Suite("Seed 2.3: index.txt")
struct KeyFileIndexTests {
  private func name(_ number: Int) -> String { "\(1_600_000_000 + number)-00001.zip" }

  @Test("What is rendered is read back, oldest first")
  func roundTrip() throws {
    let names = try [2, 1, 3].map { try #require(KeyFileName(name($0))) }
    let text = KeyFileIndex.render(names)
    #expect(text == [1, 2, 3].map(name).joined(separator: "\n"))
    #expect(KeyFileIndex.parse(text) == KeyFileIndex(names: names.sorted()))
  }

  @Test("A bad line is counted and hides no good one")
  func malformedLine() {
    let index = KeyFileIndex.parse("/\(name(1))\r\nrubbish\n\n\(name(2))\n../../etc/passwd")
    #expect(index.names.map(\.text) == [name(1), name(2)])
    #expect(index.malformedCount == 2)
  }

  @Test("A name given twice is there once")
  func duplicates() {
    #expect(KeyFileIndex.parse("\(name(1))\n/\(name(1))").names.count == 1)
  }

  @Test("An empty index is an index")
  func empty() {
    #expect(KeyFileIndex.parse("") == KeyFileIndex(names: []))
    #expect(KeyFileIndex.render([]) == "")
  }

  @Test("So many names are read and the newest of more", arguments: [-1, 0, 1])
  func nameCount(offset: Int) throws {
    let count = KeyFileIndex.nameCountMax + offset
    let index = KeyFileIndex.parse((0..<count).map(name).joined(separator: "\n"))
    #expect(index.names.count == min(count, KeyFileIndex.nameCountMax))
    #expect(index.malformedCount == max(0, offset))
    #expect(index.names.last?.text == name(count - 1))
  }

  @Test("An index that is too long is not read at all", arguments: [-1, 0, 1])
  func byteCount(offset: Int) {
    let blanks = String(repeating: "\n", count: KeyFileIndex.bytesMax + offset - name(1).utf8.count)
    #expect(KeyFileIndex.parse(blanks + name(1)).names.isEmpty == (offset > 0))
  }
}
