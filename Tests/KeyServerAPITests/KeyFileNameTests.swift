import KeyServerAPI
import Testing

@Suite("Seed 2.3 and 5: names of key files")
struct KeyFileNameTests {
  @Test("Both forms are read, with and without the leading slash")
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
    "What is no name is refused",
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

  @Test("Names sort by their end, which cursors go by")
  func order() throws {
    let long = try #require(KeyFileName("1500000000-1600014400-00001.zip"))
    let short = try #require(KeyFileName("1600000000-1600007200-00001.zip"))
    #expect([long, short].sorted() == [short, long])
  }
}
