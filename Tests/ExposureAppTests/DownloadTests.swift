import ExposureNotification
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import ExposureApp

@Suite("Key file downloads") struct DownloadTests {
  @Test("The first check downloads nothing, moves the cursor to the newest file and succeeds")
  func firstCheck() async throws {
    let phone = try TestApp()
    phone.publish(0..<3)
    let app = try phone.launch()
    #expect(await app.check() == .checked(.none))
    #expect(await app.cursor == TestApp.end(2))
    #expect(phone.script.state.detections.isEmpty)
  }

  @Test("New files are downloaded, analysed in one call and removed, and the cursor moves")
  func walk() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<3)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections == [(0..<3).map(TestApp.name)])
    #expect(await app.cursor == TestApp.end(2))
    #expect(phone.keyFiles.isEmpty)
  }

  @Test("A file in the folder is not downloaded again")
  func present() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2)
    phone.script.update { $0.detectionError = .internal }
    #expect(await app.check() == .failed(.detectionFailed))
    #expect(phone.keyFiles == [TestApp.name(0), TestApp.name(1)])
    phone.script.update { $0.detectionError = nil }
    #expect(await app.check() == .checked(.none))
    #expect(phone.network.requests(for: "/" + TestApp.name(0)).count == 1)
  }

  @Test("At most four files are downloaded concurrently")
  func bounded() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<9)
    _ = await app.check()
    #expect(phone.network.runningMax == DownloadLimit.filesAtOnce)
  }

  @Test("A dead link fails the run and stops the cursor; the other files are analysed once")
  func deadLink() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<3, except: [1: .response(404)])
    #expect(await app.check() == .failed(.filesMissing))
    #expect(await app.cursor == TestApp.end(0))
    #expect(phone.script.state.detections == [[TestApp.name(0), TestApp.name(2)]])
    phone.publish(0..<3)
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections.last == [TestApp.name(1)])
    #expect(await app.cursor == TestApp.end(2))
  }

  @Test("The cursor does not move if the detection fails")
  func cursorAfterDetection() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2)
    phone.script.update { $0.detectionError = .rateLimited }
    #expect(await app.check() == .failed(.rateLimited))
    #expect(await app.cursor == 0)
    #expect(phone.keyFiles.count == 2)
  }

  @Test(
    "Timeout and retries follow the remote configuration",
    arguments: [(NetworkConnection.wifi, 11.0), (.mobile, 22.0)])
  func remoteSettings(connection: NetworkConnection, seconds: Double) async throws {
    let phone = try TestApp(connection: connection)
    let app = try await phone.launchedAfterFirstCheck()
    try phone.serve(
      RemoteConfiguration(
        version: 2,
        diagnosisKeyDownloadConfiguration: KeyDownload(
          timeoutMobileSeconds: 22, timeoutWifiSeconds: 11, retryCount: 3)))
    phone.publish(0..<1, except: [0: .fails(.timedOut)])
    #expect(await app.check() == .failed(.filesMissing))
    let requests = phone.network.requests(for: "/" + TestApp.name(0))
    #expect(requests.count == 4)
    #expect(requests.allSatisfy { $0.timeoutSeconds == seconds })
    #expect(requests.allSatisfy { $0.responseBytesMax == DownloadLimit.fileBytesMax })
  }

  @Test("A 503 response is retried, a 404 response is not")
  func retries() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2, except: [0: .response(404)])
    phone.network.script("/" + TestApp.name(1), .response(503), .text("0123"))
    _ = await app.check()
    #expect(phone.network.requests(for: "/" + TestApp.name(0)).count == 1)
    #expect(phone.network.requests(for: "/" + TestApp.name(1)).count == 2)
    #expect(phone.script.state.detections == [[TestApp.name(1)]])
  }

  @Test("A file above the size limit is not downloaded again in the same run")
  func tooLarge() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1, except: [0: .fails(.tooLarge)])
    #expect(await app.check() == .failed(.filesMissing))
    #expect(phone.network.requests(for: "/" + TestApp.name(0)).count == 1)
  }

  @Test("Malformed lines of the index are skipped")
  func malformed() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<1)
    phone.network.index(["../../etc/passwd", "/" + TestApp.name(0), "", "hello", "1-2-3.zip"])
    #expect(await app.check() == .checked(.none))
    #expect(phone.script.state.detections == [[TestApp.name(0)]])
  }

  @Test("A file name in the far future does not move the cursor")
  func farFuture() async throws {
    let phone = try TestApp()
    phone.network.index(["9999990000-9999999999-00001.zip"])
    let app = try phone.launch()
    _ = await app.check()
    #expect(await app.cursor == 0)
    let latest = Int64(phone.clock.now.timeIntervalSince1970 + DownloadLimit.futureSecondsMax)
    let download = await app.keyFileDownload
    for (end, isTaken) in [(latest - 1, true), (latest, true), (latest + 1, false)] {
      phone.network.index(["\(end)-00001.zip"])
      #expect(try await download.index(at: phone.clock.now).isEmpty == !isTaken)
    }
  }

  @Test("After a refused batch each file is analysed alone, and the bad one alone from then on")
  func badFile() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.refusedFiles = [TestApp.name(1)] }
    phone.publish(0..<3)
    #expect(await app.check() == .failed(.filesMissing))
    #expect(phone.script.state.detections.count == 4)
    #expect(await app.cursor == TestApp.end(0))
    #expect(phone.keyFiles.isEmpty)
    phone.publish(0..<5)
    #expect(await app.check() == .failed(.filesMissing))
    #expect(
      phone.script.state.detections.suffix(2) == [
        [TestApp.name(3), TestApp.name(4)], [TestApp.name(1)],
      ])
    phone.script.update { $0.refusedFiles = [] }
    #expect(await app.check() == .checked(.none))
    #expect(await app.cursor == TestApp.end(4))
  }

  @Test("With many refused files, a run spends one call on them and one on the new files")
  func manyBadFiles() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.script.update { $0.refusedFiles = Set((0..<6).map(TestApp.name)) }
    phone.publish(0..<6)
    #expect(await app.check() == .failed(.filesMissing))
    let first = phone.script.state.detections.count
    phone.publish(0..<7)
    #expect(await app.check() == .failed(.filesMissing))
    let calls = phone.script.state.detections.dropFirst(first)
    #expect(calls.count == 2 && calls.first == [TestApp.name(6)])
    #expect(await app.checkTotals.todayKeysCount == 10)
  }

  @Test("An unreachable server and a 503 response are different failures, and the cursor stays")
  func unreachable() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    phone.network.script("/index.txt", .fails(.unreachable))
    #expect(await app.check() == .failed(.noConnection))
    phone.network.script("/index.txt", .response(503))
    #expect(await app.check() == .failed(.serverBusy))
    #expect(await app.cursor == 0)
    #expect(await app.lastFailure == .serverBusy)
  }

  @Test("Partial files of a killed run are removed")
  func partial() async throws {
    let phone = try TestApp()
    let app = try await phone.launchedAfterFirstCheck()
    let folder = phone.folder.appendingPathComponent("KeyFiles")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("half".utf8).write(to: folder.appendingPathComponent(TestApp.name(0) + ".part"))
    phone.publish(0..<1)
    #expect(await app.check() == .checked(.none))
    #expect(phone.keyFiles.isEmpty)
  }

  @Test(
    "A full disk fails the run with diskFull; the next run continues once there is space",
    .enabled(if: SmallDisk.isAvailable, Comment(rawValue: SmallDisk.absence)))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 256 << 10)
    let phone = try TestApp(folder: disk.url.appendingPathComponent("app"))
    let app = try await phone.launchedAfterFirstCheck()
    phone.publish(0..<2, except: [1: .response(200, Data(count: 64 << 10))])
    let ballast = disk.fill()
    #expect(await app.check() == .failed(.diskFull))
    #expect(await app.cursor == 0)
    try FileManager.default.removeItem(at: ballast)
    #expect(await app.check() == .checked(.none))
    #expect(await app.cursor == TestApp.end(1))
  }
}

@Suite("Download cursor") struct DownloadCursorTests {
  private func names(_ numbers: Int...) throws -> [KeyFileName] {
    try numbers.map { try #require(KeyFileName(TestApp.name($0))) }
  }

  private func begun() -> DownloadCursor {
    var cursor = DownloadCursor()
    cursor.begin(with: [])
    return cursor
  }

  @Test("The cursor is the end timestamp of both file name formats")
  func endTimestamp() throws {
    let both = try ["1602734400-1602748800-00001.zip", "1602763200-00001.zip"].map {
      try #require(KeyFileName($0))
    }
    var cursor = begun()
    #expect(cursor.pending(in: both) == both)
    cursor.finish(analysed: [both[0]], refused: [], listed: both)
    #expect(cursor.end == 1_602_748_800)
    #expect(cursor.pending(in: both) == [both[1]])
    cursor.finish(analysed: [both[1]], refused: [], listed: both)
    #expect(cursor.end == 1_602_763_200)
    #expect(cursor.pending(in: both).isEmpty)
  }

  @Test("The first index sets the cursor to its newest file, or to 0 if it is empty")
  func firstLook() throws {
    var cursor = DownloadCursor()
    #expect(cursor.pending(in: try names(0)).isEmpty)
    cursor.begin(with: try names(0, 1))
    #expect(cursor.end == TestApp.end(1))
    cursor.begin(with: try names(5))
    #expect(cursor.end == TestApp.end(1))
    #expect(begun().end == 0)
    #expect(begun().pending(in: try names(0)) == (try names(0)))
  }

  @Test(
    "A missing file stops the cursor; later files are analysed once")
  func heldBack() throws {
    var cursor = begun()
    let listed = try names(0, 1, 2)
    cursor.finish(analysed: try names(0, 2), refused: [], listed: listed)
    #expect(cursor.end == TestApp.end(0))
    #expect(cursor.pending(in: listed) == (try names(1)))
    cursor.finish(analysed: try names(1), refused: [], listed: listed)
    #expect(cursor.end == TestApp.end(2))
    #expect(cursor.analysed.isEmpty)
  }

  @Test("A file that is no longer listed does not stop the cursor")
  func unlisted() throws {
    var cursor = begun()
    cursor.finish(analysed: try names(0, 2), refused: [], listed: try names(0, 1, 2))
    cursor.finish(analysed: [], refused: [], listed: try names(2, 3))
    #expect(cursor.end == TestApp.end(2))
    #expect(cursor.pending(in: try names(2, 3)) == (try names(3)))
  }

  @Test("A file with the same end as a missing one does not move the cursor and is not pending")
  func sameEnd() throws {
    let end = TestApp.end(0)
    let twins = try ["\(end)-00001.zip", "\(end)-00002.zip"].map { try #require(KeyFileName($0)) }
    var cursor = begun()
    cursor.finish(analysed: [twins[1]], refused: [], listed: twins)
    #expect(cursor.end == 0)
    #expect(cursor.pending(in: twins) == [twins[0]])
  }

  @Test("A refused file stays pending and is forgotten when it is no longer listed")
  func refused() throws {
    var cursor = begun()
    cursor.finish(analysed: try names(0), refused: try names(1), listed: try names(0, 1))
    #expect(cursor.refused == [TestApp.name(1)])
    #expect(cursor.pending(in: try names(0, 1)) == (try names(1)))
    cursor.finish(analysed: [], refused: [], listed: try names(0))
    #expect(cursor.refused.isEmpty)
  }
}
