// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Testing

@testable import ExposureApp

@Suite("Download cursor") struct DownloadCursorTests {
  private let now = TestApp.noon
  private let oldest = TestApp.noon.addingTimeInterval(-14 * TestApp.day)

  private func names(_ numbers: Int...) throws -> [KeyFileName] {
    try numbers.map { try #require(KeyFileName(TestApp.name($0))) }
  }

  private func begun(_ listed: [KeyFileName] = []) -> DownloadCursor {
    var cursor = DownloadCursor()
    cursor.note([], at: now, after: oldest)
    cursor.note(listed, at: now, after: oldest)
    return cursor
  }

  @Test("The cursor is the end timestamp of both file name formats")
  func endTimestamp() throws {
    let both = try ["1602734400-1602748800-00001.zip", "1602763200-00001.zip"].map {
      try #require(KeyFileName($0))
    }
    var cursor = begun(both)
    #expect(cursor.pending == both)
    cursor.finish(analysed: [both[0]], missing: [], after: oldest)
    #expect(cursor.end == 1_602_748_800)
    #expect(cursor.pending == [both[1]])
    cursor.finish(analysed: [both[1]], missing: [], after: oldest)
    #expect(cursor.end == 1_602_763_200)
    #expect(cursor.isComplete)
  }

  @Test("The first index sets the cursor to its newest file, or to 0 if it is empty")
  func firstLook() throws {
    var cursor = DownloadCursor()
    #expect(cursor.end == nil)
    cursor.note(try names(0, 1), at: now, after: oldest)
    #expect(cursor.end == TestApp.end(1))
    #expect(cursor.isComplete)
    cursor.note(try names(0, 1, 2), at: now, after: oldest)
    #expect(cursor.end == TestApp.end(1))
    #expect(cursor.pending == (try names(2)))
    #expect(begun().end == 0)
    #expect(begun(try names(0)).pending == (try names(0)))
  }

  @Test("Files that ended after the phone could receive are wanted by the first index")
  func lateFirstLook() throws {
    var cursor = DownloadCursor()
    cursor.beginReceiving(at: Date(timeIntervalSince1970: Double(TestApp.end(0)) + 1))
    cursor.beginReceiving(at: now)
    cursor.note(try names(0, 1, 2), at: now, after: oldest)
    #expect(cursor.end == TestApp.end(0))
    #expect(cursor.pending == (try names(1, 2)))
  }

  @Test("A missing file stops the cursor; later files are analysed once")
  func heldBack() throws {
    let listed = try names(0, 1, 2)
    var cursor = begun(listed)
    cursor.finish(analysed: try names(0, 2), missing: try names(1), after: oldest)
    #expect(cursor.end == TestApp.end(0))
    cursor.note(listed, at: now, after: oldest)
    #expect(cursor.pending == (try names(1)))
    cursor.finish(analysed: try names(1), missing: [], after: oldest)
    #expect(cursor.end == TestApp.end(2))
    cursor.note(listed, at: now, after: oldest)
    #expect(cursor.isComplete)
  }

  @Test("A file that earlier indexes omitted is wanted, and the position goes back before it")
  func listedLate() throws {
    var cursor = begun(try names(2))
    cursor.finish(analysed: try names(2), missing: [], after: oldest)
    #expect(cursor.end == TestApp.end(2))
    cursor.note(try names(0, 1, 2), at: now, after: oldest)
    #expect(cursor.pending == (try names(0, 1)))
    #expect(cursor.end == 0)
    cursor.finish(analysed: try names(0, 1), missing: [], after: oldest)
    #expect(cursor.isComplete)
    #expect(cursor.end == TestApp.end(2))
  }

  @Test("An analysed file is remembered until it is fourteen days old")
  func remembered() throws {
    var cursor = begun(try names(0, 1))
    cursor.finish(analysed: try names(0, 1), missing: [], after: oldest)
    let end = Date(timeIntervalSince1970: Double(TestApp.end(0)))
    cursor.note(try names(0, 1), at: now, after: end.addingTimeInterval(-1))
    #expect(cursor.analysed.count == 2 && cursor.isComplete)
    cursor.note(try names(0, 1), at: now, after: end)
    #expect(cursor.analysed.count == 1 && cursor.isComplete)
    #expect(cursor.end == TestApp.end(1))
  }

  @Test("In the state of an earlier version, files up to its position are not wanted")
  func earlierVersion() throws {
    let text = """
      {"receiving":1,"end":\(TestApp.end(0)),"analysed":{},"isRestarted":false,"hasListing":true,
      "wanted":{},"undone":[],"search":{"groups":[],"refused":{},"calls":[]}}
      """
    var cursor = try JSONDecoder().decode(DownloadCursor.self, from: Data(text.utf8))
    cursor.note(try names(0, 1), at: now, after: oldest)
    #expect(cursor.pending == (try names(1)))
  }

  @Test(
    "A file that later indexes omit stays wanted and stops the cursor until it is fourteen days old"
  )
  func omitted() throws {
    var cursor = begun(try names(0, 1, 2))
    cursor.finish(analysed: try names(0, 2), missing: try names(1), after: oldest)
    let end = Date(timeIntervalSince1970: Double(TestApp.end(1)))
    for listed in [[], try names(2), try names(0, 2)] {
      cursor.note(listed, at: now, after: oldest)
      cursor.finish(analysed: [], missing: [], after: oldest)
      #expect(cursor.pending == (try names(1)))
      #expect(cursor.end == TestApp.end(0))
    }
    cursor.note([], at: now, after: end.addingTimeInterval(-1))
    #expect(!cursor.isComplete)
    cursor.note([], at: now, after: end)
    #expect(cursor.isComplete)
    cursor.finish(analysed: [], missing: [], after: end)
    #expect(cursor.end == TestApp.end(2))
  }

  @Test("Files that could not be downloaded come after the others")
  func failedLast() throws {
    var cursor = begun(try names(0, 1))
    cursor.finish(analysed: [], missing: try names(0), after: oldest)
    #expect(cursor.pending == (try names(1, 0)))
  }

  @Test("A file with the same end as a missing one does not move the cursor and is not wanted")
  func sameEnd() throws {
    let end = TestApp.end(0)
    let twins = try ["\(end)-00001.zip", "\(end)-00002.zip"].map { try #require(KeyFileName($0)) }
    var cursor = begun(twins)
    cursor.finish(analysed: [twins[1]], missing: [twins[0]], after: oldest)
    #expect(cursor.end == 0)
    cursor.note(twins, at: now, after: oldest)
    #expect(cursor.pending == [twins[0]])
  }

  @Test("An index cannot make more files wanted than the limit")
  func limit() throws {
    let first = TestApp.end(0)
    let many = try (0...Int64(DownloadLimit.wantedMax)).map {
      try #require(KeyFileName("\(first + $0)-00001.zip"))
    }
    let cursor = begun(many)
    #expect(cursor.pending == Array(many.dropFirst()))
  }

  @Test("After a restart all listed files of fourteen days are wanted, also analysed ones")
  func restart() throws {
    var cursor = begun(try names(0, 1))
    cursor.finish(analysed: try names(0, 1), missing: [], after: oldest)
    cursor.restart()
    #expect(!cursor.isRestored)
    cursor.note(try names(0, 1), at: now, after: oldest)
    #expect(cursor.pending == (try names(0, 1)))
    #expect(!cursor.isRestored)
    cursor.finish(analysed: try names(0, 1), missing: [], after: oldest)
    #expect(cursor.isRestored)
  }
}

@Suite("Search for a bad key file") struct FileSearchTests {
  private let now = TestApp.noon
  private let names = (0..<20).map { "f\($0 < 10 ? "0" : "")\($0)" }

  /// Searches until the limit of calls is reached or no file is left, and returns the calls.
  private func run(
    _ search: inout FileSearch, bad: Set<String>, limit: Int, isFree: Bool = false, at now: Date
  ) -> [[String]] {
    var calls: [[String]] = []
    while let next = search.next(
      available: Set(names), limit: limit, isFree: isFree && calls.isEmpty, at: now)
    {
      calls.append(next)
      if bad.isDisjoint(with: next) {
        search.accept(next, at: now)
      } else {
        search.refuse(next, at: now)
      }
    }
    return calls
  }

  @Test(
    "One bad file of twenty is found with few calls, and all others are accepted", arguments: 0..<20
  )
  func oneBad(index: Int) {
    var search = FileSearch()
    search.refuse(names, at: now)
    let calls = run(&search, bad: [names[index]], limit: 100, at: now)
    #expect(calls.count <= 9)
    #expect(search.refused.keys.map { $0 } == [names[index]])
    #expect(search.groups.isEmpty)
  }

  @Test("The calls of a day are limited, and the search goes on the next day")
  func limited() {
    var search = FileSearch()
    search.refuse(names, at: now)
    var days = 0
    while !search.groups.isEmpty, days < 10 {
      let time = now.addingTimeInterval(Double(days) * TestApp.day)
      #expect(run(&search, bad: [names[7]], limit: 2, at: time).count <= 2)
      #expect(run(&search, bad: [names[7]], limit: 2, at: time).isEmpty)
      days += 1
    }
    #expect(days <= 5)
  }

  @Test("A file that was refused alone is tried again after a day, not before")
  func again() {
    var search = FileSearch()
    search.refuse([names[0]], at: now)
    #expect(search.wanted(at: now).isEmpty)
    let almost = now.addingTimeInterval(TestApp.day - 1)
    #expect(run(&search, bad: [names[0]], limit: 9, at: almost).isEmpty)
    let later = now.addingTimeInterval(TestApp.day)
    #expect(search.wanted(at: later) == [names[0]])
    #expect(run(&search, bad: [names[0]], limit: 9, at: later) == [[names[0]]])
    #expect(run(&search, bad: [names[0]], limit: 9, at: later).isEmpty)
  }

  @Test("When the trusted keys change, refused files and groups are analysed like new ones")
  func otherKeys() {
    var search = FileSearch()
    search.refuse(Array(names.dropFirst()), at: now)
    search.refuse([names[0]], at: now)
    search.startOver()
    #expect(search.suspects.isEmpty)
  }

  @Test("A search call that replaces the call for new files does not count against the limit")
  func free() {
    var search = FileSearch()
    search.refuse(names, at: now)
    #expect(run(&search, bad: [], limit: 0, at: now).isEmpty)
    #expect(run(&search, bad: [], limit: 0, isFree: true, at: now).count == 1)
    #expect(search.calls.isEmpty)
  }
}
