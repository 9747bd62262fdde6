import KeyServerAPI
import Testing

@testable import ExposureApp

/// Documentation/App.md 3.2 to 3.4.
@Suite struct DownloadCursorTests {
  private func names(_ numbers: Int...) throws -> [KeyFileName] {
    try numbers.map { try #require(KeyFileName(TestApp.name($0))) }
  }

  private func begun() -> DownloadCursor {
    var cursor = DownloadCursor()
    cursor.begin(with: [])
    return cursor
  }

  @Test("D17: the cursor is the end timestamp, in both forms of the name")
  func endTimestamp() throws {
    let both = try ["1602734400-1602748800-00001.zip", "1602763200-00001.zip"].map {
      try #require(KeyFileName($0))
    }
    var cursor = begun()
    #expect(cursor.wanted(of: both) == both)
    cursor.finish(analysed: [both[0]], refused: [], listed: both)
    #expect(cursor.end == 1_602_748_800)
    #expect(cursor.wanted(of: both) == [both[1]])
    cursor.finish(analysed: [both[1]], refused: [], listed: both)
    #expect(cursor.end == 1_602_763_200)
    #expect(cursor.wanted(of: both).isEmpty)
  }

  @Test("A first look at an index begins at its newest file, and at nothing where it is empty")
  func firstLook() throws {
    var cursor = DownloadCursor()
    #expect(cursor.wanted(of: try names(0)).isEmpty)
    cursor.begin(with: try names(0, 1))
    #expect(cursor.end == TestApp.end(1))
    cursor.begin(with: try names(5))
    #expect(cursor.end == TestApp.end(1))
    #expect(begun().end == 0)
    #expect(begun().wanted(of: try names(0)) == (try names(0)))
  }

  @Test(
    "D20: a file that could not be had holds the cursor; later ones are done all the same, once")
  func heldBack() throws {
    var cursor = begun()
    let listed = try names(0, 1, 2)
    cursor.finish(analysed: try names(0, 2), refused: [], listed: listed)
    #expect(cursor.end == TestApp.end(0))
    #expect(cursor.wanted(of: listed) == (try names(1)))
    cursor.finish(analysed: try names(1), refused: [], listed: listed)
    #expect(cursor.end == TestApp.end(2))
    #expect(cursor.analysed.isEmpty)
  }

  @Test("D20: a file that the index no longer lists holds nothing back")
  func unlisted() throws {
    var cursor = begun()
    cursor.finish(analysed: try names(0, 2), refused: [], listed: try names(0, 1, 2))
    cursor.finish(analysed: [], refused: [], listed: try names(2, 3))
    #expect(cursor.end == TestApp.end(2))
    #expect(cursor.wanted(of: try names(2, 3)) == (try names(3)))
  }

  @Test("A file that ends together with an open one is not passed, and not wanted again")
  func sameEnd() throws {
    let end = TestApp.end(0)
    let twins = try ["\(end)-00001.zip", "\(end)-00002.zip"].map { try #require(KeyFileName($0)) }
    var cursor = begun()
    cursor.finish(analysed: [twins[1]], refused: [], listed: twins)
    #expect(cursor.end == 0)
    #expect(cursor.wanted(of: twins) == [twins[0]])
  }

  @Test("A refused file stays open, and is forgotten when the index no longer lists it")
  func refused() throws {
    var cursor = begun()
    cursor.finish(analysed: try names(0), refused: try names(1), listed: try names(0, 1))
    #expect(cursor.refused == [TestApp.name(1)])
    #expect(cursor.wanted(of: try names(0, 1)) == (try names(1)))
    cursor.finish(analysed: [], refused: [], listed: try names(0))
    #expect(cursor.refused.isEmpty)
  }
}
